"""The site of a made catalogue, and that of the real one: links, escapes, what pages say,
what is refused.
"""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from support.paths import ROOT
from support.records import as_pinned
from support.toy import README, Toy, toy_config
from support.website import Page, problems

import trainbugs
from evaluation.reading.load import is_earlier
from evaluation.scoring.case_state import ABSENT, EARLY, FOUND, SILENT
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import counted_bugs
from runner.bugs.config import REWRITTEN
from runner.errors import ResultsError, UsageError
from runner.files import swap
from runner.session.promote import promote_runs
from trainbugs.cli.commands import site as command
from trainbugs.release import write as release
from trainbugs.release.about import about
from trainbugs.website import index
from trainbugs.website.bug import read
from trainbugs.website.build import DOCS, build
from trainbugs.website.evaluations import ALL, Evaluation, ShownAnswer, _answer
from trainbugs.website.folder import MARKER, write
from trainbugs.website.links import MAX_FILE_BYTES, place

HOSTILE = "</script><script>alert(1)</script> & \"it\" 'is' <b>{{ 7*7 }}</b>"
STORY = (
    README.replace("DIFF", "-a\n+b")
    + """
<script>alert(2)</script> <img src=x onerror=alert(3)>

<!-- a comment -->

[bad](javascript:alert(4)) [gone](nothing.md) [out](../../../../etc/passwd) ![far](https://example.org/far.png)

| a | b |
|---|---|
| 1 | [config](config.json) |
"""
)


@pytest.fixture
def recorded(toy: Toy) -> Toy:
    """The toy bug with committed records."""
    promote_runs([as_pinned(toy.run())])
    return toy


def wrong(site) -> list[str]:
    return problems(site.pages, set(site.files) | set(site.pages))


def test_every_link_and_picture_leads_to_something(recorded):
    site = build(recorded.catalog)
    assert wrong(site) == []
    assert site.problems == []
    assert {
        "index.html",
        "leaderboard.html",
        "studies.html",
        "downloads.html",
        "bugs/Toy-1.html",
    } <= set(site.pages)


def test_the_check_finds_what_is_wrong():
    """If it found nothing, the tests of links would hold of anything."""
    page = (
        '<h1 id="a">A</h1><h3 id="a">B</h3><p><a href="b.html">b</a><img '
        'src="http://x/y.png"></div>'
    )
    text = "\n".join(problems({"index.html": page}, set()))
    for problem in (
        "h3 follows h1",
        "'a' is there 2 times",
        "b.html: there is no",
        "loads http",
        "no text",
        "is not closed",
    ):
        assert problem in text


def test_hostile_text_is_text(recorded):
    case = toy_config()["cases"]["only"] | {"title": HOSTILE}
    case["expectations"][0]["statement"] = HOSTILE
    labels = toy_config()["labels"] | {"root_cause": HOSTILE, "symptom": HOSTILE}
    recorded.configure(title=HOSTILE, cases={"only": case}, labels=labels)
    recorded.write("README.md", STORY)
    site = build(recorded.catalog)
    assert wrong(site) == []
    for text in site.pages.values():
        page = Page(text)
        assert "alert" not in "".join(page.loads)
        assert not any(link.startswith("javascript") for link in page.links)
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "<b>" not in text
        assert "a comment" not in text
    bug = site.pages["bugs/Toy-1.html"]
    assert "{{ 7*7 }}" in bug
    assert "&lt;script&gt;alert(2)" in bug
    assert "[picture: far]" in bug
    # What leads nowhere, or out of the catalogue, is plain text, and is told.
    problems = [problem.split(" at ")[1] for problem in site.problems]
    assert problems == ["'nothing.md'", "'../../../../etc/passwd'"]
    rows = site.pages["index.html"].split('id="bugs-index">')[1].split("</script>")[0]
    assert json.loads(rows)[0]["order"]["title"] == HOSTILE


def test_only_plain_files_of_the_repository_are_copied(recorded, tmp_path):
    notes = recorded.root / "notes"
    folder = notes / "<img src=x>"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("s3cret")
    for path in (notes, folder):
        (path / "far.txt").symlink_to(tmp_path / "secret.txt")
    (notes / "near.txt").symlink_to(recorded.directory / "config.json")
    (notes / "linked").symlink_to(recorded.directory)
    (recorded.root / ".git").mkdir()
    (recorded.root / ".git" / "config").write_text("s3cret")
    with (notes / "large.bin").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    links = (".git/config", "notes/far.txt", "notes/near.txt", "notes/linked/config.json", "notes/linked",
             "notes/large.bin", "notes/%3Cimg%20src=x%3E")  # fmt: skip
    recorded.write(
        "README.md", STORY.split("<script>")[0] + " ".join(f"[x](../../{link})" for link in links)
    )
    site = build(recorded.catalog)
    assert wrong(site) == []
    assert [problem.split(" at ")[1] for problem in site.problems] == [
        f"'../../{link}'" for link in links[:-1]
    ]
    assert {name for name in site.files if name.startswith("files/notes")} == {
        "files/notes/<img src=x>/a.txt"
    }
    page = site.pages["files/notes/<img src=x>/index.html"]
    assert "<h1>notes/&lt;img src=x&gt;</h1>" in page
    assert "<img" not in page


def test_downloads_and_summaries_that_lead_out_are_told(recorded, tmp_path):
    (tmp_path / "secret.txt").write_text("s3cret?\n")
    records = recorded.root / "detectors" / "expected"
    records.mkdir(parents=True)
    (records / "scores.csv").symlink_to(tmp_path / "secret.txt")
    site = build(recorded.catalog)
    assert len(site.problems) == 1
    assert "scores.csv: is a link that leads out" in site.problems[0]
    assert "downloads/scores.csv" not in site.files
    assert wrong(site) == []


def test_the_site_has_the_dataset_and_says_how_to_cite_it(recorded, tmp_path):
    site = build(recorded.catalog)
    write(site, tmp_path / "site")
    exported = release.write(recorded.catalog, about(recorded.catalog), tmp_path / "release")
    assert exported.rows["bugs"] == 1
    with zipfile.ZipFile(tmp_path / "site" / "downloads" / "trainbugs-dataset.zip") as archive:
        names = [
            path.relative_to(tmp_path).as_posix()
            for path in (tmp_path / "release").rglob("*")
            if path.is_file()
        ]
        assert sorted(archive.namelist()) == sorted(names)
        assert "release/croissant.json" in names
        assert all(archive.read(name) == (tmp_path / name).read_bytes() for name in names)
    described = (ROOT / "CITATION.cff").read_text()
    for page in ("downloads.html", "bugs/Toy-1.html"):
        cited = dict(
            re.findall(r"  (\w+) = \{(.*)\},\n", site.pages[page].split("@software{trainbugs,")[1])
        )
        assert re.search(r'^title: "(.*)"$', described, re.MULTILINE)[1] == cited["title"]
        assert re.search(r"^version: (.*)$", described, re.MULTILINE)[1] == cited["version"]
        assert (
            "{" + re.search(r"^  - name: (.*)$", described, re.MULTILINE)[1] + "}"
            == cited["author"]
        )


def test_without_pyarrow_there_is_no_dataset(recorded, monkeypatch):
    monkeypatch.setattr("trainbugs.website.downloads.find_spec", lambda name: None)
    site = build(recorded.catalog)
    assert "downloads/trainbugs-dataset.zip" not in site.files
    assert "downloads/cases.csv" in site.files


def test_a_page_says_what_the_records_say(recorded):
    page = build(recorded.catalog).pages["bugs/Toy-1.html"]
    assert "REPRODUCED</span> by the committed records: 4 checks hold" in page
    # The buggy script ends at 3 + seed; the fixed one is 3 above it with both seeds.
    assert (page.count("last 3</li>"), page.count("last 4</li>"), page.count("&lt;= 5")) == (
        3,
        1,
        1,
    )
    assert "There are no committed records of detectors" in page
    chart = json.loads(page.split('id="chart-only-cpu-1">')[1].split("</script>")[0])
    assert [curve["mean"] for curve in chart["curves"]] == [[1.5, 2.5, 3.5], [2.5, 4.5, 6.5]]
    assert chart["curves"][0]["low"] == [1, 2, 3]
    assert chart["curves"][0]["high"] == [2, 3, 4]


def test_only_what_is_reproduced_counts(toy):
    assert "1 case. The committed records of 0 of these" in build(toy.catalog).pages["index.html"]
    promote_runs([as_pinned(toy.run())])
    assert "The committed records of 1 of these" in build(toy.catalog).pages["index.html"]
    part = read(toy.catalog.bug("Toy-1"), toy.root)
    assert [(record.variant, record.seed) for record in part._reproducing_runs] == [
        ("buggy", 0),
        ("buggy", 1),
    ]
    case = toy_config()["cases"]["only"]
    case["expectations"][0]["value"] = -1
    toy.configure(cases={"only": case})
    part = read(toy.catalog.bug("Toy-1"), toy.root)
    assert part.cases[0].runs[0].verdict.outcome == "NOT REPRODUCED"
    assert part._reproducing_runs == []
    assert "The committed records of 0 of these" in build(toy.catalog).pages["index.html"]


def test_a_text_that_has_the_word_expected_is_whole(recorded):
    case = toy_config()["cases"]["only"]
    case["expectations"][0] |= {"op": "!=", "value": "one, expected two"}
    recorded.configure(cases={"only": case})
    observed = read(recorded.catalog.bug("Toy-1"), recorded.root).cases[0].runs[0].observed[0]
    assert observed.expected == "!= 'one, expected two'"
    assert observed.values == (
        ("seed 0", "last 3"),
        ("seed 1", "last 4"),
    )


def test_the_sides_of_a_diff_are_told_without_colours(recorded):
    page = build(recorded.catalog).pages["bugs/Toy-1.html"]
    table = page.split('<table class="diff" role="table">')[1].split("</table>")[0]
    assert "− buggy, + fixed" in page
    assert table.count('role="row"') == table.count("<tr") > 1
    assert table.count("<td") == table.count('role="cell"') > 4
    assert table.count('role="columnheader"') == 4


def test_without_records_a_page_says_so(toy):
    site = build(toy.catalog)
    page = site.pages["bugs/Toy-1.html"]
    assert "There are no committed records of this case yet." in page
    assert "REPRODUCED" not in page
    assert wrong(site) == []


def test_a_record_that_cannot_be_read_stops_nothing(recorded, cli):
    path = recorded.directory / "expected" / "only" / "fixed-seed1.json"
    path.write_text(path.read_text().replace('"accuracy": 3', '"accuracy": 9'))
    status, out, err = cli("site")
    assert status == 2
    assert "fixed-seed1.json: its metrics are not those of the run" in err
    assert "site: site/index" in out
    page = (recorded.root.parent / "site" / "bugs" / "Toy-1.html").read_text()
    assert "its metrics are not those of the run" in page
    assert "last 3" not in page


def test_a_script_that_cannot_be_read_is_told(recorded, monkeypatch):
    monkeypatch.setattr("trainbugs.website.bug.MAX_SCRIPT_BYTES", 10)
    site = build(recorded.catalog)
    page = site.pages["bugs/Toy-1.html"]
    assert site.problems == ["Toy-1/buggy.py: is larger than 10 bytes"]
    assert "cannot be read: Toy-1/buggy.py: is larger than 10 bytes" in page
    assert "scripts are the same" not in page


def test_a_bug_that_cannot_be_read_is_told_and_the_others_are_there(recorded):
    (recorded.root / "bugs" / "Odd-1").mkdir()
    (recorded.root / "bugs" / "Odd-1" / "config.json").write_text("{")
    site = build(recorded.catalog)
    assert len(site.problems) == 1
    assert "Odd-1" in site.problems[0]
    assert "bugs/Toy-1.html" in site.pages


def test_the_same_records_make_the_same_site(recorded):
    first, second = build(recorded.catalog), build(recorded.catalog)
    assert first.pages == second.pages
    assert first.files == second.files


def test_an_older_site_is_replaced_and_nothing_else(recorded, cli, tmp_path):
    assert cli("site", "--out", "public")[0] == 0
    (tmp_path / "public" / "index.html").write_text("older")
    assert cli("site", "--out", "public")[0] == 0
    assert (tmp_path / "public" / "index.html").read_text() != "older"
    assert (tmp_path / "public" / MARKER).is_file()
    for stray in (".git/config", ".nojekyll", "bugs/mine.html", "CNAME"):
        (tmp_path / "public" / stray).parent.mkdir(exist_ok=True)
        (tmp_path / "public" / stray).write_text("mine")
        status, _, err = cli("site", "--out", "public")
        assert status == 2
        assert f"public holds {stray}, which this command did not write" in err
        assert (tmp_path / "public" / stray).read_text() == "mine"
        assert len(err.splitlines()) == 1
        (tmp_path / "public" / stray).unlink()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    status, _, err = cli("site", "--out", "mine")
    assert status == 2
    assert "no site that this command made" in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    assert not (tmp_path / "public" / swap.HIDDEN).exists()


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(28, "No space left on device"), ResultsError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_the_older_site_stays_where_the_new_one_cannot_take_its_place(
    recorded, tmp_path, monkeypatch, error, raised
):
    site, out = build(recorded.catalog), tmp_path / "public"
    write(site, out)
    (out / "index.html").write_text("older")
    replace = Path.replace

    def failing(path, target):
        if path.name == swap.DRAFT:
            raise error
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    message = "cannot be written: No space left on device" if raised is ResultsError else None
    with pytest.raises(raised, match=message):
        write(site, out)
    assert (out / "index.html").read_text() == "older"
    assert not (out / swap.HIDDEN).exists()


def test_an_interrupt_while_files_are_replaced_leaves_the_whole_new_site(
    recorded, tmp_path, monkeypatch
):
    site, out = build(recorded.catalog), tmp_path / "public"
    write(site, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for path in before:
        if path.suffix == ".html":
            path.write_text("older")
    replace, interrupts = Path.replace, iter([KeyboardInterrupt()])

    def interrupted(path, target):
        error = next(interrupts, None) if path.name == "index.html" else None
        if error:
            raise error
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(site, out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


ACTIVE = (
    "evil.html",
    "evil.SVG",
    "evil.xml",
    "evil.js",
    "evil.html.txt",
    "evil.xhtml",
    "evil.unknown",
)


def test_what_a_browser_would_run_is_neither_copied_nor_linked(recorded):
    readme = recorded.directory / "README.md"
    links = "".join(
        f"[e{number}]({name}) ![p{number}]({name})\n" for number, name in enumerate(ACTIVE)
    )
    readme.write_text(
        f"{readme.read_text()}\n{links}\n[data](data.csv) [all](more) ![fine](fine.png)\n"
    )
    for name in (*ACTIVE, "data.csv", "fine.png", "more/evil.svg", "more/note.txt"):
        recorded.write(name, "<script>alert(1)</script>")
    site = build(recorded.catalog)
    page = site.pages["bugs/Toy-1.html"]
    assert "evil" not in "".join(site.files)
    assert not re.search('(href|src)="[^"]*evil', page)
    assert all(f"e{number} [picture: p{number}]" in page for number in range(len(ACTIVE)))
    assert {
        f"files/bugs/Toy-1/{name}" for name in ("data.csv", "fine.png", "more/note.txt")
    } <= set(site.files)
    for name in ACTIVE:
        assert f"bugs/Toy-1/README.md: there is nothing on the site at '{name}'" in site.problems


def test_a_picture_that_is_none_is_text_and_stops_nothing_else(recorded):
    readme = recorded.directory / "README.md"
    readme.write_text(
        f"{readme.read_text()}\n![spaced](a%20b.png) ![part](fine.png#left) ![anchor](#x) "
        "![page](README.md#y) ![folder](more) ![root](../..) ![missing](none.png)\n"
    )
    for name in ("a b.png", "fine.png", "more/note.txt"):
        recorded.write(name, "text")
    site = build(recorded.catalog)
    page = site.pages["bugs/Toy-1.html"]
    assert {"files/bugs/Toy-1/a b.png", "files/bugs/Toy-1/fine.png"} <= set(site.files)
    assert page.count("<img") == 2
    for name in ("anchor", "page", "folder", "root", "missing"):
        assert f"[picture: {name}]" in page
    for link in ("#x", "README.md#y", "more", "../..", "none.png"):
        assert f"bugs/Toy-1/README.md: there is no picture at '{link}'" in site.problems


def test_a_folder_that_cannot_be_written_is_told(recorded, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="no site that this command made"):
        write(build(recorded.catalog), tmp_path / "file")


def test_what_is_not_installed_is_named(cli, monkeypatch):
    monkeypatch.setattr(
        command, "find_spec", lambda name: None if name == "markdown_it" else object()
    )
    status, out, err = cli("site")
    assert (status, out) == (2, "")
    assert err == (
        "trainbugs: site needs markdown-it-py, not installed; `pip install jinja2 markdown-it-py "
        "pygments`\n"
    )


def test_other_commands_do_not_load_what_the_site_needs():
    code = (
        "import sys; from trainbugs.cli.root_parser import build_parser; build_parser(); "
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert "trainbugs.cli.commands.site" in loaded
    assert not {
        *command.NEEDED,
        "trainbugs.website",
        "pandas",
    } & set(loaded)


def test_the_real_site_is_whole(real):
    assert wrong(real) == []
    assert real.problems == []
    side_by_side = (
        real.pages["leaderboard.html"].split('<table id="beside"')[1].split("</table>")[0]
    )
    assert "dslinter (all)" in side_by_side
    note = "The records of this table are of an earlier kit"
    assert (note in real.pages["leaderboard.html"]) == is_earlier(ROOT, REWRITTEN)
    assert "dslinter (zero-grad)" not in side_by_side
    assert all(f"bugs/{name}.html" in real.pages for name in Catalog(ROOT).ids())
    assert len([name for name in real.pages if name.startswith("studies/")]) == len(
        list(ROOT.glob("bugs/*/studies/*.md"))
    )
    assert all(
        f"docs/{path.stem}.html" in real.pages
        for path in ROOT.glob("docs/*.md")
        if path.stem != "README"
    )


def test_no_page_of_the_real_site_shows_html_or_markdown(real):
    shown = {name: Page(text).unrendered for name, text in real.pages.items()}
    assert {name: hits for name, hits in shown.items() if hits} == {}


def test_html_and_markdown_that_nothing_rendered_is_found():
    for text in ("&lt;img src=x>", "[a](https://b)", "[a][b]", "`a`"):
        assert Page(f"<p>{text}</p>").unrendered
        assert not Page(f"<p><code>{text}</code></p>").unrendered
    assert not Page("<p>groups[0]['lr'] a &lt; b</p>").unrendered


def test_what_a_bug_declares_may_have_code_and_links(recorded):
    declared = toy_config()["declared"]
    text = "<b>x</b> `y` [z](https://example.org) [n](nothing.md) ![p](https://example.org/p.png)"
    recorded.configure(declared=declared | {"harm": declared["harm"] | {"choices": text}})
    site = build(recorded.catalog)
    page = site.pages["bugs/Toy-1.html"]
    shown = '&lt;b&gt;x&lt;/b&gt; <code>y</code> <a href="https://example.org">z</a> n [picture: p]'
    assert f"{shown}</dd>" in page
    assert wrong(site) == []


def test_no_two_sources_have_the_same_place():
    sources = [path.relative_to(ROOT).as_posix() for pattern in (*DOCS, "bugs/*/*.md", "bugs/*/studies/*.md")
               for path in ROOT.glob(pattern)]  # fmt: skip
    assert len({place(source) for source in sources}) == len(sources) > 60


def test_no_page_of_the_real_site_is_large(real):
    assert {
        name: len(text.encode())
        for name, text in real.pages.items()
        if len(text.encode()) > 500_000
    } == {}


def test_answers_add_up_to_the_committed_scores(answers):
    table = pd.read_csv(ROOT / "detectors" / "expected" / "scores.csv", keep_default_na=False)
    scores = [score for score in answers.scores if score.group == ALL]
    assert len(scores) == len(table) > 10
    for score in scores:
        score_answers = [
            answer
            for answer in answers.answers
            if answer.label == score.label and not answer.benign
        ]
        assert (
            sum(answer.state == FOUND for answer in score_answers) == score.rates["paired"].count
        ), score.label
    paired = {
        (row.detector, row.references, row.paired, row.paired_n) for row in table.itertuples()
    }
    assert {
        (s.detector, s.references, s.rates["paired"].count, s.rates["paired"].n) for s in scores
    } == paired


def test_an_alarm_before_the_fault_finds_nothing():
    def state(*delays):
        base = {
            "detector": "d",
            "rule": "r",
            "references": "none",
            "bug": "A",
            "case": "c",
            "benign": False,
        }
        base |= {"status": "ok", "diagnosis": "-", "first": 5, "oracle": False, "rule_since": None}
        buggy = [
            base
            | {
                "kind": "buggy",
                "alarmed": True,
                "delay": delay,
                "claimed_delay": None,
                "early": delay is not None and delay < 0,
            }
            for delay in delays
        ]
        return _answer([*buggy, base | {"kind": "fixed", "alarmed": False, "delay": None}]).state

    assert [state(-1), state(-1, -2), state(-1, 0), state(0), state(None)] == [
        EARLY,
        EARLY,
        FOUND,
        FOUND,
        FOUND,
    ]


def test_finders_are_named_with_their_rule(recorded):
    part = read(recorded.catalog.bug("Toy-1"), recorded.root)

    def finders_text(*states):
        answers = [
            ShownAnswer("d", f"d (rule {n})", "Toy-1", "only", False, state, "", "")
            for n, state in enumerate(states)
        ]
        return index.finders(part.bug, Evaluation(tuple(answers), ()))

    assert finders_text(SILENT, FOUND, EARLY) == ["d (rule 1)"]
    assert finders_text() == ["not evaluated yet"]
    assert finders_text(SILENT, ABSENT, EARLY) == ["none of those that ran"]
    assert finders_text(ABSENT) == ["none ran"]


def test_neither_negative_controls_nor_rejected_rules_are_named(answers):
    rejected = {score.label for score in answers.scores if score.chosen is False}
    bugs = {answer.bug for answer in answers.answers}
    finders = {name for bug in bugs for name in answers.finders(bug)}
    assert "sanitizer-3" in finders
    assert "trainproof (live-5)" in finders
    assert "trainproof (live-1)" in rejected
    assert not finders & (rejected | {"memory"})
    paired = {
        found_answer.label
        for found_answer in answers.answers
        if found_answer.state == FOUND and not found_answer.benign
    }
    assert paired - finders >= {"memory", "trainproof (live-1)"}


def test_rows_of_a_location_have_only_what_is_of_it(answers):
    scores = answers.scores
    filled = [
        (score.overhead is not None, score.rates["false_controls"].n > 0)
        for score in scores
        if score.group != ALL
    ]
    assert len(filled) > 10
    assert not any(any(flags) for flags in filled)
    assert any(score.rates["false_controls"].n for score in scores)


def test_an_invalid_verdict_has_the_mark_of_an_open_one(toy):
    """It says nothing about the bug, and is not NOT REPRODUCED."""
    promote_runs([as_pinned(toy.run())])
    case = toy_config()["cases"]["only"]
    case["expectations"][0]["metric"] = "nothing"
    toy.configure(cases={"only": case})
    page = build(toy.catalog).pages["bugs/Toy-1.html"]
    assert '<span class="mark open">INVALID</span>' in page
    assert "mark no" not in page


def test_the_leaderboard_says_what_was_evaluated(real):
    text = real.pages["leaderboard.html"]
    table = trainbugs.outcomes()
    shown = table[table.kind == "buggy"]
    cases = len(shown[["bug", "case"]].drop_duplicates())
    counted = len(counted_bugs(Catalog(ROOT)))
    assert f"{shown.bug.nunique()} of {counted} bugs, {cases} cases." in text
    text = real.pages["rules.html"]
    groups = text.split('name="group"')[1].split("</select>")[0]
    assert ">all evaluated bugs</option>" in groups
    assert "(" not in groups
    assert "They are claimed" in text.split("<dt>Delay</dt>")[1].split("</div>")[0]


def test_own_results_make_one_page(toy, cli, tmp_path, capsys):
    toy.run()
    capsys.readouterr()
    status, out, err = cli(
        "site", "--from", "results", "--results", toy.results, "--out", "mine/report.html"
    )
    assert (status, err) == (
        0,
        "",
    )
    assert "report: mine/report.html (1 case, 0 rows of detectors" in out
    text = (tmp_path / "mine" / "report.html").read_text()
    page = Page(text)
    assert page.problems == []
    assert page.loads == []
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.anchors)
    assert "REPRODUCED</span>" in text
    assert "last 3, expected &lt;= 5" in text
    assert "<style>" in text
    assert '<path class="line buggy' in text


def test_a_verdict_that_does_not_hold_is_shown_as_it_is(toy, cli, tmp_path):
    toy.write("buggy.py", (toy.directory / "fixed.py").read_text())
    toy.run()
    assert cli("site", "--from", "results", "--results", toy.results)[0] == 0
    text = (tmp_path / "report.html").read_text()
    assert "NOT REPRODUCED</span>" in text
    assert ">REPRODUCED</span>" not in text
    assert "fails</span>" in text


def test_a_folder_without_results_is_told(toy, cli, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder, message in (
        ("empty", "there are no verdicts in 'empty'"),
        ("gone", "there is no folder 'gone'"),
    ):
        status, out, err = cli("site", "--from", "results", "--results", folder)
        assert (status, out) == (2, "")
        assert message in err
        assert len(err.splitlines()) == 1
    toy.run()
    status, _, err = cli("site", "--from", "results", "--results", toy.results, "--out", "empty")
    assert status == 2
    assert "empty is a folder" in err


def test_only_an_older_report_is_replaced(toy, cli, tmp_path):
    toy.run()
    command = ("site", "--from", "results", "--results", toy.results)
    assert cli(*command)[0] == 0
    assert cli(*command)[0] == 0
    (tmp_path / "thesis.tex").write_text("mine")
    status, _, err = cli(*command, "--out", "thesis.tex")
    assert status == 2
    assert "thesis.tex exists, and is no report that this command made" in err
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert len(err.splitlines()) == 1


def test_a_folder_of_results_is_not_ignored(recorded, cli, tmp_path):
    status, out, err = cli("site", "--results", recorded.results)
    assert (status, out) == (2, "")
    assert "--from results" in err
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("commit", "shown_text"),
    [
        ("0123456789" * 4, "012345678901."),
        ("0123456789" * 4 + "-dirty", "012345678901-dirty."),
        ("trainbugs-1.2.3.dev45", "trainbugs-1.2.3.dev45."),
        (None, "records."),
    ],
)
def test_the_footer_names_the_commit(recorded, monkeypatch, commit, shown_text):
    monkeypatch.setattr("trainbugs.website.build.find_revision", lambda *arguments: commit)
    footer = build(recorded.catalog).pages["index.html"].split("<footer>")[1].split("<p>")[1]
    assert footer.split("</p>")[0].endswith(shown_text)


def test_a_damaged_record_is_told_and_the_rest_is_there(toy, cli, tmp_path):
    toy.run()
    path = next((toy.results / "Toy-1" / "only").glob("fixed-seed1-*.json"))
    path.write_text("{}")
    status, _, err = cli("site", "--from", "results", "--results", toy.results)
    assert status == 2
    assert path.name in err
    assert (tmp_path / "report.html").is_file()
