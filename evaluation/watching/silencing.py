"""Findings that a user has silenced: by a comment in their line, or by a baseline file."""

import linecache
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evaluation.watching.report import WatchedAlarm, WatchReport

Reason = Literal["comment", "baseline"]
# What a finding is known by, wherever in its file it stands: the invariant, the file, the line.
Mark = tuple[str, str | None, str | None]

COMMENT = re.compile(r"#\s*trainbugs:\s*ignore\[([^\]]*)\]")
# People know such a comment from other tools; here it silences nothing.
NAMELESS = re.compile(r"#\s*trainbugs:\s*ignore(\[\s*\]|(?![\[\w]))")


@dataclass(frozen=True)
class UnknownName:
    """A name in a comment that no invariant has, and where the comment stands."""

    file: str
    line: int
    name: str


@dataclass(frozen=True)
class Silencing:
    """A report, and which of its alarms are silenced.

    The files of the alarms lie in `folder`; `baseline` holds the marks of the baseline file.
    """

    report: WatchReport
    folder: str
    baseline: frozenset[Mark] = frozenset()

    @property
    def audible(self) -> WatchReport:
        """The report without what is silenced."""
        alarms = [alarm for alarm in self.report.alarms if self.reason(alarm) is None]
        return replace(self.report, alarms=tuple(alarms))

    def reason(self, alarm: WatchedAlarm) -> Reason | None:
        """What silences an alarm; None where nothing does."""
        line = line_of(alarm, self.folder) or ""
        if alarm.code in _silenced_names(line):
            return "comment"
        return "baseline" if mark_of(alarm, self.folder) in self.baseline else None

    def counts(self) -> Iterator[tuple[Reason, int]]:
        """How many findings each reason silences, without the reasons that silence none."""
        findings = [*self.report.broken, *self.report.advice]
        reasons = [self.reason(alarm) for alarm in findings]
        for reason in ("comment", "baseline"):
            if reason in reasons:
                yield reason, reasons.count(reason)

    def marks(self) -> list[Mark]:
        """The marks of what no comment silences: a baseline of them silences it."""
        findings = [*self.report.broken, *self.report.advice]
        marks = {
            mark_of(alarm, self.folder) for alarm in findings if self.reason(alarm) != "comment"
        }
        return sorted(marks, key=str)

    def unknown_names(self, known: Sequence[str], script: str | None) -> Iterator[UnknownName]:
        """The names in comments that are not among the `known` ones: in the script, and in the
        files that alarms name.
        """
        for file in self._files(script):
            for number, line in enumerate(_lines(file), 1):
                for name in _silenced_names(line):
                    if name and name not in known:
                        yield UnknownName(file, number, name)

    def comments_without_names(self, script: str | None) -> Iterator[str]:
        """FILE:LINE of comments that would ignore, and name nothing: in the same files."""
        for file in self._files(script):
            for number, line in enumerate(_lines(file), 1):
                if NAMELESS.search(line):
                    yield f"{file}:{number}"

    def _files(self, script: str | None) -> list[str]:
        """The script, and the files that alarms name, each once."""
        alarms = self.report.alarms
        files = [Path(self.folder, alarm.file).as_posix() for alarm in alarms if alarm.file]
        if script:
            files.insert(0, Path(script).as_posix())
        return list(dict.fromkeys(files))


def mark_of(alarm: WatchedAlarm, folder: str) -> Mark:
    """The mark of an alarm; it has no line number, which changes when lines are added above.

    Names that are no UTF-8 are escaped: a baseline could not be read with them.
    """
    name = Path(folder, alarm.file).as_posix() if alarm.file else None
    file = name.encode("utf-8", "backslashreplace").decode() if name else None
    return alarm.code, file, line_of(alarm, folder)


def line_of(alarm: WatchedAlarm, folder: str) -> str | None:
    """The line of the program that an alarm names, as it is in its file now."""
    if alarm.file is None or alarm.line is None:
        return None
    lines = _lines(str(Path(folder, alarm.file)))
    return lines[alarm.line - 1].strip() if 0 < alarm.line <= len(lines) else ""


def _lines(file: str) -> list[str]:
    """The lines of a file, as they are now; none where it cannot be read."""
    # By its absolute path: it is not looked for in the folders of modules.
    path = str(Path(file).absolute())
    try:
        linecache.checkcache(path)
        return linecache.getlines(path)
    except ValueError:  # a null in the name, which code that was compiled from a text may give
        return []


def _silenced_names(line: str) -> list[str]:
    """The names that the comments of a line give."""
    lists = COMMENT.findall(line)
    return [name.strip() for name in ",".join(lists).split(",")]
