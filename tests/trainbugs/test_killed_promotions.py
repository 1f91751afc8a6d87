"""Each kind of promotion, killed at each of its writes: what is committed is all old, or all new,
never a mixture.
"""

import shutil

import pytest
from support.copies import replace
from support.detectors import write_detector
from support.killing import MOST, check_all_or_nothing, contents, files, killed_at
from support.records import as_pinned
from support.rewritten import CODE, pair
from support.studies import write_study
from support.toy import alone

from evaluation.catalog.detectors import read
from evaluation.planting import judgements
from evaluation.planting.judgements import Judgement
from evaluation.running.campaign import CampaignResult
from evaluation.running.options import CampaignOptions
from evaluation.running.promote import promote_checks
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import load_bug
from runner.files.swap import recover
from runner.results.record import digest
from runner.session.promote import promote_runs, promote_versions
from runner.session.version_sweep import BugVersions
from runner.studies.definition import load
from runner.studies.promote import promote
from runner.studies.running import run_study
from trainbugs.release.about import About
from trainbugs.release.write import write as export
from trainbugs.website.folder import Website
from trainbugs.website.folder import write as write_site

ABOUT = About("A benchmark", "0.1.0", "2026-11-23", "urn:trainbugs", ["the authors"])


def later(record, **changes):
    """The same run, done again at a later commit, with other numbers."""
    metrics = tuple({**metric, "accuracy": metric["accuracy"] + 1} for metric in record.metrics)
    changed = replace(record, metrics=metrics, revision="1" * 40, **changes)
    return replace(changed, metrics_digest=digest(changed.key, metrics))


def draw(text):
    """Stands for matplotlib: a figure is a file, made in two steps."""
    return lambda bug, folder: (folder / "compare_only.png").write_text(text)


def with_more_seeds(outcome):
    """What is promoted first: records of a seed that the case no longer has, too."""
    more = [replace(record, seed=record.seed + 7) for record in outcome.records]
    case = outcome.target.case
    program = replace(
        case.program, seeds=(*case.program.seeds, *(seed + 7 for seed in case.program.seeds))
    )
    target = replace(outcome.target, case=replace(case, program=program))
    return replace(outcome, target=target, records=(*outcome.records, *more))


def test_expected_records_and_their_figures(toy):
    first = as_pinned(toy.run())
    promote_runs([with_more_seeds(first)], draw("old"))
    new = replace(first, records=tuple(later(record) for record in first.records))
    deaths = check_all_or_nothing(
        toy.directory / "expected",
        lambda: promote_runs([new], draw("new")),
        lambda: load_bug(toy.directory),
    )
    assert deaths > 30
    names = {name for name in files(toy.directory / "expected")}
    assert names == {
        "compare_only.png", *(f"only/{variant}-seed{seed}.json" for variant in ("buggy", "fixed") for seed in (0, 1))
    }  # fmt: skip


def test_maps_of_versions(toy):
    alone(toy)
    record = as_pinned(toy.run()).records[0]
    records = [replace(record, environment=f"toy-{number}") for number in range(3)]
    old = BugVersions(toy.bug, (), tuple(records))
    new = BugVersions(toy.bug, (), tuple(later(record) for record in records))
    promote_versions(old, draw("old"))
    check_all_or_nothing(
        toy.directory / "expected",
        lambda: promote_versions(new, draw("new")),
        lambda: load_bug(toy.directory),
    )
    assert len(files(toy.directory / "expected" / "versions")) == 3


def test_studies(toy, monkeypatch):
    monkeypatch.setattr("runner.studies.promote._refuse_runs", lambda results: None)
    write_study(toy)
    study = load(toy.bug, "grid")
    session = toy.session()
    results = run_study(toy.catalog, study, session.options, session.progress, None)
    few = replace(results, rows=results.rows[:4])

    def figures(text):
        def call(name):
            name("_grid.png").write_text(text)
            return [name("_grid.png")]

        return call

    assert [path.name for path in promote(few, figures("old"))] == [
        "grid.csv",
        "grid.md",
        "grid_grid.png",
    ]
    check_all_or_nothing(
        toy.directory / "studies",
        lambda: promote(results, figures("new")),
        lambda: load_bug(toy.directory),
    )


def clean(**changes):
    return [replace(record, revision="0" * 40, detector="d", **changes) for record in pair()]


@pytest.mark.parametrize("planted", [False, True])
def test_records_of_detectors_and_their_tables(tmp_path, planted, monkeypatch):
    monkeypatch.setattr("evaluation.store.committed.MAX_BYTES", 900)
    folder, detector = (
        tmp_path / "expected",
        read(write_detector(tmp_path / "d", "main(lambda target, state: {})")),
    )
    plan = CampaignOptions([detector], plant=1 if planted else None)

    def commit(text, **changes):
        judgements.write(tmp_path, [Judgement("A", "no-step", text, 3, True, "worse")])
        checks = [
            check for seed in (0, 1) for check in clean(seed=seed, plant=plan.plant, **changes)
        ]

        def tabulate(where, copy):
            assert where == folder
            (copy / "scores.csv").write_text(text)
            (copy / "side-by-side.csv").unlink(missing_ok=True)

        promote_checks(
            plan,
            CampaignResult(tuple(checks), (), (), tmp_path / "detectors"),
            {"d": folder},
            tabulate,
        )

    commit("old", code=CODE, reason="long " * 100)
    (folder / "side-by-side.csv").write_text("stale")
    (folder / "another.jsonl").write_text("of another detector")
    check_all_or_nothing(
        folder,
        lambda: commit("new", code="b" * 64),
        lambda: CommittedChecks(folder).rewritten_by(plan.rewriting).read(["d"]),
    )
    assert files(folder)["another.jsonl"] == b"of another detector"
    assert "side-by-side.csv" not in files(folder)


def test_sites(tmp_path):
    out = tmp_path / "site"

    def make(text, names):
        write_site(
            Website(
                {name: text for name in names}, {f"assets/{name}": text.encode() for name in names}
            ),
            out,
        )

    make("old", ["index.html", "bugs/a.html", "goes/b.html"])
    next_one = Website({"more": "x"})
    check_all_or_nothing(
        out,
        lambda: make("new", ["index.html", "bugs/a.html", "comes/c.html"]),
        # A site that cannot be made, as the next command: it finds a whole one.
        lambda: _refused(next_one, out),
    )
    assert {path.name for path in tmp_path.iterdir()} == {"site"}


def _refused(site, out):
    site.files["missing"] = out / "nowhere"
    with pytest.raises(Exception, match="nowhere|cannot be written"):
        write_site(site, out)


def test_releases(toy, tmp_path):
    out, bad = tmp_path / "release", tmp_path / "release" / "note.txt"
    export(toy.catalog, ABOUT, out)
    bad.write_text("of an older release")
    before = files(out)
    toy.configure(title="Another toy")
    saved = tmp_path / "saved"
    shutil.copytree(out, saved)
    states, number = [], 1
    while number < MOST:
        shutil.rmtree(out)
        shutil.copytree(saved, out)
        killed = killed_at(number, lambda: export(toy.catalog, ABOUT, out))
        recover(out)
        states.append(files(out))
        if not killed:
            break
        number += 5
    assert states[0] == before
    assert states[-1] != before
    assert "note.txt" not in states[-1]
    assert all(state in (before, states[-1]) for state in states)
    assert {path.name for path in tmp_path.iterdir()} - {"cache", "uv"} == {
        "catalogue",
        "release",
        "saved",
    }


def test_a_folder_that_was_not_there_is_whole_or_not_there(toy):
    first = as_pinned(toy.run())
    expected = toy.directory / "expected"
    for number in range(1, MOST):
        shutil.rmtree(expected, ignore_errors=True)
        killed = killed_at(number, lambda: promote_runs([first], draw("new")))
        load_bug(toy.directory)
        assert len(files(expected)) in (0, 5)
        assert ".swap" not in contents(expected)
        if not killed:
            assert len(files(expected)) == 5
            return
    raise AssertionError("no end")
