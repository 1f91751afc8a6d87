"""The pages: what they link to, the commands and options that they show,
the numbers that they give.
"""

import itertools
import json
import math
import re
import shlex
from collections import Counter
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from support import proof
from support.paths import ROOT

import trainbugs
from evaluation.catalog import authors, controls, detectors
from evaluation.catalog.declared import declared_programs
from evaluation.reading.load import earlier_folder
from evaluation.reading.subsets import select_counted, select_current
from evaluation.scoring import report
from evaluation.scoring.chosen import rejected
from evaluation.scoring.outcomes import ROW, label, with_twins
from evaluation.scoring.rewritten import without
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import counted_bugs, counted_cases
from runner.bugs.program import VARIANTS
from runner.errors import UsageError
from runner.results.expected import CUDA, expected_records, seconds
from trainbugs.cli.main import main
from trainbugs.cli.root_parser import build_parser
from trainbugs.descriptions import harm_rows

CATALOG = Catalog(ROOT)
README = (ROOT / "README.md").read_text()
PATTERNS = (
    "*.md",
    "docs/*.md",
    "detectors/**/README.md",
    "benchmarks/README.md",
    "bugs/*/README.md",
)
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for pattern in PATTERNS for path in ROOT.glob(pattern)
)
# A word in capitals stands for something of the reader's, and so does one with an ellipsis.
PLACEHOLDER = re.compile(r"[A-Z/|\[\]]*[A-Z][A-Z/|\[\]]*|.*[…<>].*")
INDENTED = re.compile(r"^ {4,}(trainbugs .*)$", re.MULTILINE)
# Pages are of no use to a reader whose package index is another one.
HOSTS = (
    "pypi.",
    "pythonhosted",
    "download.pytorch.org",
    "anaconda.org",
    "docker.io",
    "hub.docker.com",
    "ghcr.io",
)


def text(page: str) -> str:
    return (ROOT / page).read_text()


def prose(page: str) -> str:
    """A page without its fenced blocks of code."""
    return re.sub(r"^( *)```.*?^\1```", "", text(page), flags=re.DOTALL | re.MULTILINE)


def links(page: str) -> list[str]:
    """The targets of all links and pictures that lead to a place in this repository."""
    inline = re.findall(r"\]\(([^()\s]+)\)", prose(page))
    references = re.findall(r"^\[[^\]]+\]: (\S+)", prose(page), re.MULTILINE)
    return [link for link in (*inline, *references) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    counts: Counter[str] = Counter()
    found_anchors = set()
    for heading in re.findall(
        r"^#+ +(.*?) *$", prose(page.relative_to(ROOT).as_posix()), re.MULTILINE
    ):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found_anchors.add(f"{anchor}-{counts[anchor]}" if counts[anchor] else anchor)
        counts[anchor] += 1
    return found_anchors


def commands(page: str) -> list[list[str]]:
    """The command lines of trainbugs in a page's blocks of code, less those with placeholders."""
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE))
    # `trainbugs watch: …` is what it says.
    return words_of(
        [
            *re.findall(r"^(trainbugs (?!\w+:).*)$", fenced, re.MULTILINE),
            *INDENTED.findall(prose(page)),
        ]
    )


def mentions(page: str) -> list[list[str]]:
    """The commands in sentences, which may leave out required arguments."""
    return words_of(re.findall(r"`(trainbugs [^`]+)`", prose(page).replace("\n", " ")))


def words_of(lines: list[str]) -> list[list[str]]:
    split = [shlex.split(re.split(r" [|>&] ", line)[0], comments=True)[1:] for line in lines]
    return [words for words in split if not any(map(PLACEHOLDER.fullmatch, words))]


def rows(page: str) -> list[list[str]]:
    """The rows of all tables on a page, headings included."""
    lines = [line for line in text(page).splitlines() if line[:1] == "|"]
    return [list(map(str.strip, line.strip("|").split(" | "))) for line in lines]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 110


PROSE = [
    page
    for page in PAGES
    if page.startswith(("README", "CONTRIBUTING", "docs", "detectors", "benchmarks"))
]


def paragraphs(page):
    """The paragraphs of a page and the items of its lists, without tables, code and the targets of links."""
    prose = re.sub(r"```.*?```", "", text(page), flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#", "    ", "["))]
    items = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines))
    return [re.sub(r"\]\([^)]*\)", "]", " ".join(item.split())) for item in items]


@pytest.mark.parametrize("page", PROSE)
def test_no_sentence_is_longer_than_thirty_words(page):
    for paragraph in paragraphs(page):
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`\[*\"])", paragraph):
            assert len(sentence.split()) <= 30, sentence


def test_the_list_of_pages_names_each_page_once():
    listed = Counter(link for link in links("docs/README.md") if link.endswith(".md"))
    pages = {path.name for path in ROOT.glob("docs/*.md")} - {"README.md"}
    assert {link for link in listed if "/" not in link} == pages
    assert set(listed.values()) == {1}


def test_the_page_for_contributors_is_one_page():
    assert len(text("CONTRIBUTING.md").splitlines()) <= 90


def broken(page: str, link: str) -> str | None:
    """What is wrong with a link."""
    name, _, anchor = unquote(link).partition("#")
    path = ((ROOT / page).parent / name if name else ROOT / page).resolve()
    if not path.is_relative_to(ROOT) or not path.exists():
        return f"{link}: there is no such file"
    return f"{link}: there is no such heading" if anchor and anchor not in anchors(path) else None


def misunderstood(words: list[str]) -> str | None:
    """What is wrong with a command line."""
    try:
        parsed = vars(build_parser(*words[:1]).parse_args(words))
    except SystemExit as done:  # --help, --version
        return f"ends with {done.code}" if done.code else None
    except UsageError as error:
        return f"trainbugs {shlex.join(words)}: {error}"
    names = [
        *parsed.get("targets", ()),
        *parsed.get("bugs", ()),
        *filter(None, [parsed.get("bug")]),
    ]
    unknown = [
        name
        for name in names
        if re.match(r"[A-Za-z]+-\d", name) and name.split("/")[0] not in CATALOG.ids()
    ]
    CATALOG.select(name for name in names if name.split("/")[0] in CATALOG.ids())
    return f"trainbugs {shlex.join(words)}: there is no bug {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_something(page):
    problems = [broken(page, link) for link in links(page)]
    assert list(filter(None, problems)) == []


@pytest.mark.parametrize("page", PAGES)
def test_each_short_name_of_a_link_has_its_address_on_a_line_of_its_own(page):
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text(page), flags=re.MULTILINE | re.DOTALL)
    used = set(re.findall(r"\]\[([\w-]+)\]", prose))
    defined = re.findall(r"^\[([\w-]+)\]: \S+$", prose, re.MULTILINE)
    assert used == set(defined)
    assert len(defined) == len(re.findall(r"(?<!\])\[[\w-]+\]: ", prose))


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_understood(page):
    assert list(filter(None, map(misunderstood, commands(page)))) == []
    problems = list(filter(None, map(misunderstood, mentions(page))))
    assert [problem for problem in problems if "arguments are required" not in problem] == []


def test_pages_show_commands():
    """If none were found, the tests above would hold of anything."""
    assert ["run", "--all", "-j", "2"] in commands("docs/machines.md")
    assert ["list", "--markdown", "--out", "docs/bugs.md"] in mentions("docs/contributing-bugs.md")
    assert ["run", "DIR"] not in mentions("docs/running.md")
    assert "glossary.md#bugs-and-runs" in links("docs/bugs.md")
    assert "bugs-and-runs" in anchors(ROOT / "docs" / "glossary.md")


@pytest.mark.parametrize("command", ["run", "study", "evaluate", "versions", "scores", "watch"])
def test_every_option_is_described(command, capsys):
    assert main([command, "--help"]) == 0
    options = set(re.findall(r"(?<!\w)--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    pages = [page for page in PAGES if page.startswith("docs/")]
    described = {
        word
        for page in pages
        for code in re.findall(r"`([^`\n]+)`", prose(page))
        for word in code.split()
    }
    assert len(options) > 3
    assert options - described == set()


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_the_host_of_a_registry(page):
    assert not [host for host in HOSTS if host in text(page)]


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in text(page)])
def test_the_python_interface_has_what_pages_call(page):
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", text(page), re.DOTALL))
    assert all(
        callable(getattr(trainbugs, name)) for name in re.findall(r"\btrainbugs\.(\w+)\(", blocks)
    )


COUNTED = re.compile(r"(\d+) bugs with (\d+) cases")


def count_catalogue():
    """How many bugs the catalogue counts, and how many cases."""
    bugs = counted_bugs(CATALOG)
    return len(bugs), sum(len(counted_cases(bug)) for bug in bugs)


@pytest.mark.parametrize("page", [page for page in PAGES if COUNTED.search(text(page))], ids=str)
def test_numbers_of_bugs_are_those_of_the_catalogue(page):
    shown = {tuple(map(int, numbers)) for numbers in COUNTED.findall(text(page))}
    assert shown == {count_catalogue()}


def test_the_pages_with_numbers_of_bugs_are_found():
    assert len([page for page in PAGES if COUNTED.search(text(page))]) >= 2


def test_the_comparison_has_the_numbers_of_the_catalogue():
    bugs, cases = count_catalogue()
    assert f"| {bugs} ([{cases} cases](bugs.md)) |" in text("docs/comparison.md")


def test_the_readme_counts_the_bugs_by_harm_and_code_at_fault():
    heading, *lines, families = harm_rows(list(CATALOG))
    table = rows("README.md")
    start = table.index(heading)
    assert table[start + 2 : start + 2 + len(lines)] == lines
    counts = f"The {lines[-1][-1]} bugs belong to {families[-1]} *families*"
    assert counts in " ".join(README.split())


def test_the_readme_says_how_near_the_programs_and_the_harm_are_to_the_reports():
    bugs = counted_bugs(CATALOG)
    realism = Counter(bug.provenance.realism for bug in bugs)
    assert set(realism) == {"adapted", "our own"}
    words = " ".join(README.split())
    assert f"The programs of {realism['our own']} bugs are [our own]" in words
    assert f"; {realism['adapted']} are adapted." in words
    harm = Counter(bug.declared.harm.kind for bug in bugs)
    unlike = harm["measured"] + harm["constructed"]
    sentence = (
        f"For {unlike} bugs the report does not show the [harm](docs/taxonomy.md#harm) that our"
    )
    assert sentence in words


def test_pages_say_how_many_cases_need_a_compiler():
    cases = [case for bug in counted_bugs(CATALOG) for case in counted_cases(bug)]
    names = {case.id for case in cases if "c++" in case.program.needs}
    assert len(names) == 5
    assert "Five cases need a C++ compiler." in " ".join(README.split())
    words = " ".join(text("docs/evaluate.md").split())
    (sentence,) = re.findall(r"Five cases need a C\+\+ compiler: (.*?)\.", words)
    assert {name for name in names if name in sentence} == names


def test_the_readme_says_how_many_cases_have_records_of_a_gpu():
    shown = int(re.search(r"\[(\d+) cases\]\(docs/bugs.md\)\s+also\s+on\s+\[a\s+GPU\]", README)[1])
    cases = [case for bug in counted_bugs(CATALOG) for case in counted_cases(bug)]
    folders = [ROOT / "bugs" / case.id.replace("/", "/expected/") / CUDA for case in cases]
    assert shown == sum(folder.is_dir() for folder in folders)


def test_pages_say_how_many_controls_there_are():
    clean, outcomes = controls.load(ROOT), trainbugs.outcomes()
    count, written_for_sanitizers = len(clean.targets()), len(clean.look_alikes)
    controls_by_detector = outcomes[outcomes.kind == "control"].groupby("detector").case.nunique()
    assert controls_by_detector.median() == count, "most detectors have met all of them"
    assert f"{count} *controls* (correct programs" in README
    assert f"{count} controls: correct programs" in text("docs/detectors.md")
    usual = count - written_for_sanitizers
    said = f"all {count} controls. {usual} of them are basic, and we wrote the other"
    assert f"{said} {written_for_sanitizers}" in text("docs/evaluate.md")
    assert f"every fixed twin, {count} controls" in text("docs/comparison.md")
    assert f"and {written_for_sanitizers} controls that look like" in text("CHANGELOG.md")


def test_a_page_says_how_many_environments_all_bugs_need():
    places = {
        variant.place
        for name in CATALOG.active()
        for case in CATALOG.bug(name).cases.values()
        for variant in (case.program.variants["buggy"], case.program.variants["fixed"])
    }
    words = " ".join(text("docs/machines.md").split())
    assert f"`--all` builds {len(places)} environments" in words


def test_the_time_for_the_whole_catalogue_is_that_of_the_committed_records():
    durations = [
        seconds(bug, case) or 0
        for bug in map(CATALOG.bug, CATALOG.active())
        for case in bug.cases.values()
        if not case.program.data
    ]
    (minutes,) = re.findall(
        r"the times of its committed runs add up to (\d+) minutes", text("docs/running.md")
    )
    assert int(minutes) == round(sum(durations) / 60)


@pytest.mark.parametrize("page", ["docs/versions.md", "docs/carry.md"])
def test_pages_say_which_bugs_can_be_injected(page):
    (bugs,) = re.findall(r"So far\s+only\s+(.*?)\s+has", text(page))
    assert bugs == ", ".join(bug.id for bug in CATALOG if bug.fault)


@pytest.mark.parametrize(
    "study",
    [path for bug in CATALOG for path in bug.directory.glob("studies/*.md")],
    ids=lambda path: path.stem,
)
def test_the_page_of_studies_links_to_every_committed_summary(study):
    assert f"](../{study.relative_to(ROOT).as_posix()})" in text("docs/studies.md")


def test_pages_say_how_many_twins_are_work_arounds():
    kinds: Counter[str] = Counter()
    of_test: Counter[str] = Counter()
    mended = 0
    for bug in counted_bugs(CATALOG):
        for case in counted_cases(bug):
            variants = case.program.variants
            fix = variants["fixed"].fix
            assert fix
            kinds[fix] += 1
            if bug.declared.split == "test":
                of_test[fix] += 1
                mended += "upstream" in variants
    cells = {row[0]: row[2:] for row in rows("docs/taxonomy.md") if len(row) == 4}
    for kind, count in kinds.items():
        assert cells[kind] == [str(count), str(of_test[kind])]
    words = " ".join(text("docs/taxonomy.md").split())
    tests = of_test.total()
    is_said = f"So the twins of all {tests} test cases are work-arounds." in words
    assert is_said is (set(of_test) == {"work-around"})
    assert f"{mended} of the {tests} have a variant `upstream`" in words
    counts = rf"{kinds['work-around']} of (?:the )?{kinds.total()} cases"
    pages = ("README.md", *(f"docs/{name}.md" for name in ("concepts", "running", "detectors")))
    for page in (*pages, "docs/comparison.md"):
        assert re.search(counts, " ".join(text(page).split())), page


def test_pages_say_how_much_of_the_reports_was_read():
    bugs = counted_bugs(CATALOG)
    read = Counter(bug.declared.source_read for bug in bugs)
    of_test = Counter(bug.declared.source_read for bug in bugs if bug.declared.split == "test")
    cells = {row[0]: row[2:] for row in rows("docs/taxonomy.md") if len(row) == 4}
    for value, count in read.items():
        assert cells[value] == [str(count), str(of_test[value])]
    words = " ".join(README.split())
    said = f"They read {read['whole']} of the {len(bugs)} reports whole and {read['part']} in part"
    assert said in words
    unread = [bug for bug in bugs if bug.declared.source_read == "second-hand"]
    assert len(unread) == 3
    assert "and know three [second-hand]" in words
    page = " ".join(text("docs/taxonomy.md").split())
    (sentence,) = re.findall(r"The three are (.*?)\.", page)
    assert set(re.split(r", | and ", sentence)) == {bug.id for bug in unread}
    reported = [bug.id for bug in unread if bug.declared.harm.kind == "reported"]
    assert reported == re.findall(r"We call (\S+) \*reported\*, although", page)


def test_the_page_says_which_installed_bugs_are_of_user_code():
    installed = [bug for bug in counted_bugs(CATALOG) if bug.declared.code_at_fault == "installed"]
    of_users = [bug.id for bug in installed if bug.labels.location == "user code"]
    words = " ".join(text("docs/taxonomy.md").split())
    (sentence,) = re.findall(r"Two bugs are \*installed\*, although (.*?)\. The script", words)
    assert re.findall(r"\[(.*?)\]", sentence) == of_users
    assert f"Without them {len(installed) - len(of_users)} bugs are *installed*." in words


def test_pages_say_what_controls_cannot_show():
    clean = controls.load(ROOT)
    scripts = [
        variant.script.read_text()
        for target in clean.targets()
        for variant in target.case.program.variants.values()
    ]
    evaluating = re.compile(r"eval\(\)|no_grad|inference_mode")
    blind = sum(evaluating.search(script) is None for script in scripts)
    written, all_controls = len(clean.look_alikes), len(scripts)
    resembling = sum(map(bool, clean.look_alikes.values()))
    assert "ON CONTROLS [says little](docs/records.md#read-them-with-care)" in " ".join(
        README.split()
    )
    page = text("docs/records.md")
    plain = " ".join(page.split())
    assert f"{blind} of the {all_controls} controls never evaluate their model, and" in plain
    assert f"{blind} of the {all_controls} scripts of today have neither" in page
    assert f"{written} of the {all_controls} controls were written for sanitizers" in page
    assert f"{resembling} of these resemble" in page
    assert f"{written} of the {all_controls} are development data for sanitizer-3" in page
    assert sum("valid" in script for script in scripts) == 2


def test_the_page_says_how_many_cases_drift():
    """By the processor that the committed records name."""
    drifts: dict[str, list[tuple[float, str]]] = {"an AMD EPYC": [], "an Intel Xeon": []}
    table = proof.read_table(proof.TABLE)
    for name, row in table.items():
        assert row.verdict == "REPRODUCED"
        assert ("AMD EPYC" in row.machine) == (name != "PyTorch-162359/digits")
        (target,) = CATALOG.select([name])
        records = expected_records(target.bug, target.case.name)
        (machine,) = {record.runtime.machine for record in records}
        processor = "an AMD EPYC" if "AMD EPYC" in machine else "an Intel Xeon"
        drifts[processor].append((float(row.drift), name))
    page = text("docs/running.md")
    said = f"we proved the {len(table) - 1} counted cases, in several sittings."
    assert said in " ".join(page.split())
    cells = {row[0]: row[1:] for row in rows("docs/running.md") if row[0] in drifts}
    for processor, found in drifts.items():
        most, case = max(found)
        counts = (
            len(found),
            sum(drift == 0 for drift, _ in found),
            sum(0 < drift < 1e-4 for drift, _ in found),
            sum(drift >= 1e-4 for drift, _ in found),
        )
        assert cells[processor] == [*map(str, counts), f"{most:.2g} ({case})"]


def test_the_comparison_says_how_many_bugs_run_in_two_processes():
    targets = CATALOG.select(CATALOG.active())
    in_two = {target.bug.id for target in targets if target.case.program.processes == 2}
    counted = {bug.id for bug in counted_bugs(CATALOG)}
    assert len(in_two & counted) == 10
    (injected,) = in_two - counted
    assert CATALOG.bug(injected).is_injected
    assert "Here ten bugs run in two processes" in " ".join(text("docs/comparison.md").split())


def test_the_page_says_what_the_table_of_a_gpu_shows():
    table = pd.read_csv(ROOT / "benchmarks" / "gpu_sanitizer.csv", dtype={"version": str})
    newest = table[table.version == "7"]
    for program, found in newest.groupby("program"):
        row = [str(program), str((found.alarms > 0).sum()), str(len(found))]
        assert row in rows("docs/gpu.md")


def test_the_run_in_the_readme_is_of_cases_that_exist():
    shown = re.findall(r"^(\S+/\S+) +REPRODUCED +(\d+) ", README, re.MULTILINE)
    assert len(shown) >= 4
    for name, runs in shown:
        target = CATALOG.select([name])[0]
        assert len(expected_records(target.bug, target.case.name)) == int(runs)


@pytest.mark.parametrize(
    "group, heading", [("reference-free", "without clean runs"), ("clean runs", "with clean runs")]
)
def test_a_table_of_the_readme_has_all_rows_that_find_a_real_fix(group, heading):
    """Two of the three tables, with what is set aside in columns of their own."""
    table = pd.DataFrame(json.loads(text("detectors/expected/scores.json")))
    *tables, aside = report.group_tables(table)
    cells = {row[0]: dict(zip(aside.rows[0], row, strict=True)) for row in aside.rows[1:]}
    for part in tables:
        for row in part.rows[1:]:
            cells[row[0]] |= dict(zip(part.rows[0], row, strict=True))
    shown = rows("README.md")
    start = next(index for index, row in enumerate(shown) if row[0] == heading)
    lines = itertools.takewhile(lambda row: row[0] in cells, shown[start + 2 :])
    labels = []
    for name, *shown_cells in lines:
        labels.append(name)
        assert shown_cells == [cells[name][column] for column in shown[start][1:]], name
    title = report.GROUP_TITLES[group]
    (expected,) = (part for part in tables if part.title == title)
    rows_of_group = [row[0] for row in expected.rows[1:]]
    finding = [name for name in rows_of_group if cells[name]["REAL FIX"][0] not in "0-"]
    assert sorted(labels) == finding
    others = len(rows_of_group) - len(finding)
    if heading == "with clean runs":
        assert not others
    else:
        sentence = f"The table without clean runs leaves out {others} rows with 0 or no number in REAL FIX."
        assert sentence in " ".join(README.split())


def new_answers():
    """What detectors say of the harmful cases that came after the first bugs, by their own
    settings. Answers of a row about bugs that its authors knew are left out.
    """
    scored = trainbugs.scores()
    first = set(json.loads(text("detectors/development.json"))["bugs"])
    buggy = with_twins(trainbugs.outcomes())
    new = buggy[~buggy.benign & ~buggy.bug.isin(first)]
    new = new.merge(scored[[*ROW, "group", "chosen", "false_new_rate"]], on=ROW)
    knew = new.known.map(lambda known: known is not False)
    return new[new.chosen.fillna(True).astype(bool) & ~knew.astype(bool)]


def cases_in(answers):
    """How many cases some answers are about."""
    return answers.groupby(["bug", "case"]).ngroups


def test_the_readme_says_how_many_cases_escape():
    shown = new_answers()
    free = shown[shown.group == "reference-free"]
    careful = free[free.false_new_rate <= 0.05]
    by_careful = cases_in(careful[careful.paired])
    by_free = cases_in(free[free.paired])
    by_runs = cases_in(shown[(shown.group == "clean runs") & shown.paired])
    cases, words = cases_in(shown), " ".join(README.split())
    assert f"| find together, of the {cases} |" in words
    ours = set(careful.detector) & authors.ours(ROOT)
    runs = "*clean runs* (runs of correct programs)"
    count = len(set(careful.detector))
    rows = f"the careful rows that get no {runs}: {count} detectors have such rows."
    assert len(ours) == count - 1
    by_other = careful[careful.paired & ~careful.detector.isin(ours)]
    who = f"We wrote {len(ours)} of the {count}, and the other one finds {cases_in(by_other)}"
    assert f"| {rows} {who} | {by_careful} |" in words
    learning = shown[shown.group == "clean runs"]
    careful_runs = learning[learning.false_new_rate <= 0.05]
    labels = careful_runs.groupby(["detector", "references", "rule"]).ngroups
    assert labels == 1
    by_forest = cases_in(careful_runs[careful_runs.paired])
    assert set(careful_runs.detector) == {"pyod"}
    assert set(careful_runs.rule) == {"iforest"}
    named = "`iforest` of pyod, the only careful row with clean runs"
    assert f"| {named} | {by_forest} |" in words
    by_all_careful = cases_in(shown[shown.paired & (shown.false_new_rate <= 0.05)])
    assert f"| all careful rows | {by_all_careful} |" in words
    assert f"| all without clean runs | {by_free} |" in words
    assert f"| all with clean runs | {by_runs} |" in words
    without_negative = shown[shown.group.isin(["reference-free", "clean runs"])]
    by_all = cases_in(without_negative[without_negative.paired])
    assert f"| all | {by_all} |" in words
    assert f"So {cases - by_all} of the {cases} escape." in words


def test_the_readme_says_how_many_cases_have_scores():
    harmful = trainbugs.outcomes()
    harmful = harmful[(harmful.kind == "buggy") & ~harmful.benign]
    scored, new = cases_in(harmful), cases_in(new_answers())
    all_cases = sum(len(counted_cases(bug)) for bug in counted_bugs(CATALOG))
    words = " ".join(README.split())
    assert f"So far the scores count {scored} of the {all_cases} cases: the [short ones]" in words
    assert (
        f"{scored - new} of the {scored} are of the first 25 bugs, and {new} of later bugs."
        in words
    )
    kinds = {bug.id: bug.declared.harm.kind for bug in CATALOG}
    unlike = harmful[harmful.bug.map(kinds).isin(["measured", "constructed"])]
    assert f"In {cases_in(unlike)} of the {scored} the report shows no harm like ours." in words


def test_the_page_says_what_other_limits_of_careful_would_give():
    shown = new_answers()
    found = [
        cases_in(shown[shown.paired & (shown.false_new_rate <= limit)]) for limit in (0, 0.05, 0.15)
    ]
    free = shown[(shown.group == "reference-free") & (shown.false_new_rate <= 0.15)]
    page = " ".join(text("docs/records.md").split())
    assert f"Of the {cases_in(shown)} cases they find {found[1]}." in page
    assert f"With a limit of 0 %, careful rows find {found[0]} cases." in page
    without = cases_in(free[free.paired])
    assert f"With 15 %, all careful rows find {found[2]}." in page
    assert f"The careful rows without clean runs find {without} of these." in page


def test_the_page_says_how_often_rules_about_the_loss_alarm():
    """At any time, so that alarms before the fault count, too."""
    harmful = trainbugs.outcomes()
    harmful = harmful[~harmful.benign]
    counts = {}
    for rule in ("live-5", "trend"):
        for kind in ("buggy", "fixed"):
            shown = harmful[(harmful.rule == rule) & (harmful.kind == kind)]
            counts[rule, kind] = f"{shown.alarmed.sum()}", len(shown)
    page = " ".join(text("docs/records.md").split())
    (buggy, all_buggy), (fixed, all_fixed) = counts["live-5", "buggy"], counts["live-5", "fixed"]
    programs = f"{buggy} of {all_buggy} buggy programs, and on {fixed} of {all_fixed} fixed ones."
    assert f"`live-5` of trainproof alarms on {programs}" in page
    trend, of_fixed = counts["trend", "buggy"][0], counts["trend", "fixed"][0]
    assert f"alarms on {trend} buggy programs, and on {of_fixed} fixed ones." in page


def test_the_page_names_the_cases_whose_runs_take_over_a_minute():
    runs = {
        target.case.id: 2 * len(target.case.program.seeds)
        for target in CATALOG.select(CATALOG.active())
    }
    # Two runs at a time had a core each.
    took = {
        name: 2 * float(row.seconds) / runs[name]
        for name, row in proof.read_table(proof.TABLE).items()
    }
    (table,) = re.findall(
        r"^\| one run of \|(.*?)\n\n", text("docs/running.md"), re.DOTALL | re.MULTILINE
    )
    named = {name for name in runs if name in table}
    assert {name for name, a_run_s in took.items() if a_run_s > 60} == named


def test_the_page_says_how_much_slower_some_committed_runs_were():
    proved = proof.read_table(proof.TABLE)
    slower = []
    # The case that needs a GPU has no proof.
    for target in CATALOG.select([*proved]):
        records = expected_records(target.bug, target.case.name, "cpu")
        committed = sum(item.wall_s or 0 for item in records if item.variant in VARIANTS)
        slower.append(committed / (2 * float(proved[target.case.id].seconds)))
    said = f"took up to {math.ceil(max(slower))} times as long"
    assert said in text("docs/running.md")


def test_the_page_says_how_many_bugs_have_a_map():
    maps = {path.parts[-3] for path in ROOT.glob("bugs/*/expected/versions")}
    counted = {bug.id for bug in counted_bugs(CATALOG)}
    words = " ".join(text("docs/versions.md").split())
    assert f"{len(maps & counted)} bugs have such a map" in words
    assert len(maps - counted) == 3
    assert "so have three retired ones" in words


def test_the_page_says_who_has_no_records():
    uncommitted = set(detectors.names(ROOT)) - {
        path.stem for path in ROOT.glob("detectors/expected/*.jsonl")
    }
    words = " ".join(text("docs/records.md").split())
    sentence = re.search(r"These detectors have no scores yet: (.*?)\.", words)
    assert sentence
    assert {
        name
        for name in detectors.names(ROOT)
        if re.search(rf"(?<![\w-]){name}(?![\w-])", sentence[1] or "")
    } == uncommitted


def test_cases_that_no_detector_finds_are_as_many_as_pages_say():
    outcomes = trainbugs.outcomes()
    outcomes = outcomes[~outcomes.detector.isin(detectors.NEGATIVE_CONTROLS) & ~outcomes.benign]
    key = ["detector", "references", "rule", "bug", "case", "seed"]
    buggy, fixed = (outcomes[outcomes.kind == kind].set_index(key) for kind in ("buggy", "fixed"))
    silent = fixed[(fixed.status == "ok") & ~fixed.alarmed].index
    hits = buggy[buggy.alarmed & ~buggy.early & buggy.index.isin(silent)].reset_index()
    without_ours = hits[~hits.detector.str.startswith("sanitizer")]
    cases, without_cases, all_cases = (
        len(frame.groupby(["bug", "case"])) for frame in (hits, without_ours, buggy.reset_index())
    )
    words, page = " ".join(README.split()), " ".join(text("docs/records.md").split())
    escaped, with_ours_known = all_cases - cases, all_cases - without_cases
    sentence = (
        f"{escaped} of the {all_cases} cases escape every detector but the negative control memory"
    )
    assert f"{sentence}, by any rule." in page
    said = f"If you leave out the sanitizers, which we developed on these bugs, {with_ours_known} cases"
    assert said in page
    sentence = f"no detector but a negative control finds {escaped} of the {all_cases} cases."
    assert f"{sentence} Without the sanitizers, it is {with_ours_known}." in words


def test_the_page_says_what_is_found_of_rewritten_programs():
    """Of each detector the rule that the first table shows."""
    table = pd.read_csv(ROOT / "detectors" / "expected" / "side-by-side.csv", keep_default_na=False)
    table = without(table, rejected(earlier_scores()))
    shown, kinds = rows("docs/records.md"), ("public", "perturbed", "planted")
    heading = [*kinds, "ON FIXED, planted"]
    start = next(n for n, row in enumerate(shown) if row[1:] == heading)
    lines = itertools.takewhile(lambda row: len(row) == 5, shown[start + 2 :])
    cells_by_label = {name.replace(" (negative control)", ""): cells for name, *cells in lines}
    committed = {}
    for _, row in table.iterrows():
        committed[label(row)] = [
            *(f"{row[f'{kind}_paired']}/{row[f'{kind}_detected_n']}" for kind in kinds),
            f"{row.planted_false_fixed}/{row.planted_false_fixed_n}",
        ]
    assert cells_by_label == committed


def test_the_page_says_what_differs_on_bugs_that_came_later():
    first = set(json.loads(text("detectors/development.json"))["bugs"])
    outcomes = trainbugs.outcomes()
    buggy = outcomes[outcomes.kind == "buggy"]
    later = sorted(set(buggy.bug) - first)
    families = buggy[buggy.bug.isin(later)].family.nunique()
    table = trainbugs.comparisons(bugs=later)
    tested = table[(table.measure == "paired") & table.p_holm.notna()]
    ahead = {}
    for _, row in tested.iterrows():
        ahead[row["first"], row["second"]] = (row.bugs_first, row.bugs_second, row.p_holm)
        ahead[row["second"], row["first"]] = (row.bugs_second, row.bugs_first, row.p_holm)
    behind: dict[str, set[str]] = {better: set() for better, _ in ahead}
    for (better, worse), (more, fewer, p) in ahead.items():
        if more > fewer and p < 0.05:
            behind[better].add(worse)
    forest, compare = "pyod (same, iforest)", "trainproof-compare (same)"
    numbers = {name: len(worse) for name, worse in behind.items() if worse}
    ours = {"sanitizer-3": 13, "sanitizer-4": 22}
    assert numbers == {"memory": len(behind) - 1, forest: 21, **ours}
    more, fewer, _ = ahead[forest, compare]
    page_text = " ".join(text("docs/records.md").split())
    for words in (
        f"They are of {len(later)} bugs, in {families} families.",
        f"all {len(tested)} pairs",
        f"with clean runs of the same program, which knew none | {numbers[forest]} |",
        f"`iforest` is PAIRED more often than trainproof-compare in {more} families, "
        f"and less often in {fewer}.",
    ):
        assert words in page_text, words


@cache
def earlier_scores():
    """The scores of the records of an earlier kit."""
    records = CommittedChecks(earlier_folder(ROOT)).read()
    counted = select_counted(records, declared_programs(CATALOG))
    return ScoreTables(select_current(counted, CATALOG), CATALOG).scores


def test_the_page_says_what_is_found_in_mended_releases():
    scored = earlier_scores()
    with_release = scored[(scored.paired_upstream_n > 0) & scored.chosen.fillna(True).astype(bool)]
    shown = rows("docs/records.md")
    start = next(
        n for n, row in enumerate(shown) if row[1:] == ["PAIRED, mended release", "accused there"]
    )
    lines = itertools.takewhile(lambda row: len(row) == 3, shown[start + 2 :])
    cells_by_label = {name.replace(" (negative control)", ""): cells for name, *cells in lines}
    committed = {}
    for _, row in with_release.iterrows():
        paired = f"{row.paired_upstream}/{row.paired_upstream_n}"
        accused = f"{row.false_upstream}/{row.false_upstream_n}"
        committed[label(row)] = [paired, accused]
    assert cells_by_label == committed


def test_the_page_says_how_answers_agree_over_seeds():
    table = pd.read_csv(ROOT / "detectors" / "expected" / "seeds.csv", keep_default_na=False)
    row_by_label = {label(row): row for _, row in table.iterrows()}
    columns = [
        f"{name}_{aggregate}"
        for name in ("paired", "false_fixed")
        for aggregate in ("first", "always", "ever")
    ]
    shown = rows("docs/records.md")
    heading = ["PAIRED, FIRST", "EVERY", "ANY", "ON FIXED, FIRST", "EVERY", "ANY"]
    start = next(n for n, row in enumerate(shown) if row[1:] == heading)
    cells_by_label = {
        name: cells for name, *cells in shown[start + 2 :] if len(cells) == len(heading)
    }
    for name, cells in cells_by_label.items():
        row = row_by_label[name]
        assert cells == [
            f"{row[column]}/{row[column.rsplit('_', 1)[0] + '_n']}" for column in columns
        ], name
    assert {row_by_label[name].detector for name in cells_by_label} == set(table.detector)


def test_the_readme_s_commands_stand_on_lines_of_their_own():
    """In Markdown a block without a fence looks like a paragraph, and an editor may join its lines."""
    shown = [line.strip() for line in README.splitlines() if line.startswith("    ")]
    commands = [line.partition("#")[0].strip() for line in shown]
    start = ["make reproduce", "make test", ". .venv/bin/activate"]
    assert commands == [*start, "trainbugs run PyTorch-115607/simple"]


def test_one_version_everywhere():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    version = setup["metadata"]["version"]
    assert re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE)[1] == version
    date = re.search(r"^date-released: (.*)$", text("CITATION.cff"), re.MULTILINE)[1].strip("'\"")
    headings = re.findall(r"^## \[(\S+)\](?: - (\S+))?$", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[:2] == [("Unreleased", ""), (version, date)]
    assert f"trainbugs-{version}-py3-none-any.whl" in text("docs/running.md")
