"""JUnit XML of a watched program: a test case for each invariant, as services of continuous
integration read it.
"""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from evaluation.watching.document import WatchDocument, WatchFinding
from evaluation.watching.invariants import Invariant
from runner.progress.streams import one_line

# What XML cannot hold, of the characters that `one_line` leaves.
BARRED = {number: f"\\u{number:x}" for number in (0xFFFE, 0xFFFF)}


def junit_text(document: WatchDocument, invariants: Sequence[Invariant]) -> str:
    """A suite of all invariants, and of the program itself, which has to end well and to train."""
    suite = Element("testsuite", name="trainbugs watch")
    _add_program(suite, document)
    for invariant in invariants:
        _add_invariant(suite, document, invariant.name)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{document.report.loop_s:.3f}" if document.report else "0")
    suites = Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, "unicode", xml_declaration=True) + "\n"


def _add_program(suite: Element, document: WatchDocument) -> None:
    case = SubElement(suite, "testcase", classname=_xml(document.script), name="program")
    if document.status:
        message = f"the program ended with status {document.status}"
        SubElement(case, "error", message=message, type="status")
    elif document.answer in ("nothing watched", "unknown"):
        SubElement(case, "error", message=document.answer, type="answer")


def _add_invariant(suite: Element, document: WatchDocument, name: str) -> None:
    case = SubElement(suite, "testcase", classname=_xml(document.script), name=name)
    audible = [finding for finding in document.findings if finding.silenced is None]
    findings = [finding for finding in audible if finding.invariant == name]
    broken = [finding for finding in findings if finding.severity != "info"]
    advice = [finding for finding in findings if finding.severity == "info"]
    if broken:
        failure = SubElement(case, "failure", message=_line(broken[0]), type=broken[0].severity)
        failure.text = "\n".join(map(_line, broken))
    elif name not in document.watched:
        SubElement(case, "skipped", message="it was not watched")
    elif document.answer in ("nothing watched", "unknown"):
        SubElement(case, "skipped", message=document.answer)
    if advice:
        SubElement(case, "system-out").text = "\n".join(map(_line, advice))


def _xml(text: str) -> str:
    """The text as one line of XML, which has no other way to write two characters."""
    return one_line(text).translate(BARRED)


def _line(finding: WatchFinding) -> str:
    where = f"{finding.file}:{finding.line}: " if finding.file else ""
    cure = f". What may mend it: {finding.cure}" if finding.cure else ""
    return _xml(f"{where}{finding.message}{cure}")
