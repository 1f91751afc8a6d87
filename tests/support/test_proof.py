"""Which cases a bounded proof runs, what a full one notes, and the committed table."""

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from datetime import datetime

import pytest

from runner.bugs.catalog import Catalog
from runner.files.atomic import write_json
from runner.results.expected import expected_path
from runner.results.record import encode
from support import proof
from support.copies import replace
from support.toy import toy_config

NEEDS_NOTHING = {"gpu": "needs a GPU", "data": "needs data: left to the full proof"}


def add_bug(toy, name, **changes):
    """Another toy bug, which takes ten seconds by its two expected records."""
    records = toy.run(seeds=(0,)).records
    directory = toy.root / "bugs" / name
    shutil.copytree(toy.directory, directory)
    case = toy_config()["cases"]["only"] | changes.pop("case", {})
    config = toy_config(id=name, cases={"only": case}, **changes)
    (directory / "config.json").write_text(json.dumps(config))
    bug = toy.catalog.bug(name)
    for record in records:
        key = hashlib.sha256(f"{name} {record.key}".encode()).hexdigest()
        expected = replace(record, bug=name, key=key, metrics_digest=None, wall_s=5.0)
        write_json(expected_path(bug, record), encode(expected))


@pytest.fixture
def catalog(toy, monkeypatch):
    """A seed bug, four like it, three in two other environments, one that needs data."""
    monkeypatch.setattr(proof, "SEED_BUGS", ("Seed",))
    for name in ("Seed", "A1", "A2", "A3", "A5"):
        add_bug(toy, name)
    for name in ("A4", "C1"):
        add_bug(toy, name, environment="other")
    add_bug(toy, "B1", environment="another")
    add_bug(toy, "Data", case={"data": ["SET/raw/train"]})
    shutil.rmtree(toy.directory)
    return toy.catalog


def row(name, key, **changes):
    proven = proof.Row(
        name,
        key,
        "REPRODUCED",
        "0.0",
        "5",
        "2026-11-21T12:00:00+00:00",
        "a machine, 2 cores",
        "abc",
    )
    return replace(proven, **changes)


def table(catalog):
    """A table that proves every case."""
    return {name: row(name, key) for name, key in proof.keys(catalog).items()}


def plan(catalog, table, commit="abc", within_s=600.0):
    return proof.plan(catalog, table, commit, NEEDS_NOTHING, within_s)


def share(planned):
    return cases_because(planned, proof.SHARE)


def cases_because(planned, wanted):
    """The cases that are run for this reason."""
    return [name for name, reason in planned.reasons.items() if reason == wanted]


@pytest.mark.parametrize("variant", ["buggy", "fixed"])
def test_the_key_of_a_case_is_that_of_its_runs(catalog, variant):
    bug = catalog.bug("A1")
    before = proof.case_key(bug, bug.cases["only"])
    path = next(bug.expected.glob(f"only/{variant}-seed0.json"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"wall_s": 6.0}))
    assert proof.case_key(bug, bug.cases["only"]) == before
    # The last of all in their order.
    path.write_text(json.dumps(record | {"key": "f" * 64}))
    assert proof.case_key(bug, bug.cases["only"]) not in (before, "")
    path.write_text("{")
    assert proof.case_key(bug, bug.cases["only"]) == ""
    shutil.rmtree(bug.expected)
    assert proof.case_key(bug, bug.cases["only"]) == ""


def test_the_key_of_a_case_is_that_of_its_expectations_too(catalog):
    path = catalog.bug("A1").directory / "config.json"
    config = json.loads(path.read_text())
    before = proof.keys(catalog)["A1/only"]
    config["cases"]["only"]["title"] = "Another title"
    path.write_text(json.dumps(config))
    assert proof.keys(catalog)["A1/only"] == before
    benign = config["cases"]["only"] | {"benign": True}
    for change in ({"volatile": ["seconds"]}, {"cases": {"only": benign}}):
        path.write_text(json.dumps(config | change))
        assert proof.keys(catalog)["A1/only"] not in (before, "")
    config["cases"]["only"]["expectations"][0]["value"] = 6
    path.write_text(json.dumps(config))
    assert proof.keys(catalog)["A1/only"] not in (before, "")


def test_without_a_table_everything_is_run_the_seed_bugs_first_one_environment_after_the_other(
    catalog,
):
    planned = plan(catalog, {})
    order = ["Seed", "A1", "A2", "A3", "A5", "B1", "A4", "C1"]
    assert list(planned.reasons) == [f"{name}/only" for name in order]
    assert list(planned.reasons.values()) == [proof.SEED] + [proof.CHANGED] * 7
    assert planned.obstacles == {"Data/only": "needs data: left to the full proof"}
    assert planned.standing == ()


@pytest.mark.parametrize("change", [{"key": "0" * 64}, {"verdict": "NOT REPRODUCED"}, None])
def test_what_the_table_does_not_prove_is_run(catalog, change):
    whole = table(catalog)
    for name in ("A3/only", "Data/only"):
        proven = whole.pop(name)
        if change:
            whole[name] = replace(proven, **change)
    planned = plan(catalog, whole)
    assert cases_because(planned, proof.CHANGED) == ["A3/only"]
    assert set(planned.obstacles) == {"Data/only"}


def test_a_case_without_expected_records_is_run_whatever_the_table_says(catalog):
    shutil.rmtree(catalog.bug("A3").expected)
    whole = table(catalog)
    assert whole["A3/only"].key == ""
    assert plan(catalog, whole).reasons["A3/only"] == proof.CHANGED


def test_the_share_is_bounded_and_each_commit_has_another_one(catalog, monkeypatch):
    monkeypatch.setattr(proof, "SHARE_S", 25.0)
    whole = table(catalog)
    shares = set()
    for commit in "abcdefghijklmnopqrstuvwxyz":
        planned = plan(catalog, whole, commit)
        # Two of ten seconds, or one of an environment that is to be built, since it came first.
        assert len(share(planned)) == 2 or share(planned)[0] in ("B1/only", "A4/only", "C1/only")
        assert plan(catalog, whole, commit) == planned
        assert not planned.obstacles
        assert set(planned.standing) == set(whole) - set(planned.reasons)
        shares |= set(share(planned))
    assert shares == set(whole) - {"Data/only", "Seed/only"}


def test_the_share_leaves_the_time_to_what_is_not_proven(catalog):
    # The seed bug takes ten seconds, its environment 45; the share gets half of the rest.
    whole = table(catalog)
    assert share(plan(catalog, whole, within_s=55.0)) == []
    assert len(share(plan(catalog, whole, within_s=55.0 + 2))) == 1
    assert len(share(plan(catalog, whole, within_s=1000.0))) == 7
    whole.pop("A1/only")
    assert share(plan(catalog, whole, within_s=55.0 + 10)) == []


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = {name: row(name, "0" * 64) for name in ("b", "a")}
    proof.write_table(tmp_path / "proof.csv", rows.values())
    assert (tmp_path / "proof.csv").read_text().splitlines()[1].startswith("a,")
    assert proof.read_table(tmp_path / "proof.csv") == rows
    assert proof.read_table(tmp_path / "none.csv") == {}


TESTS = """\
import pathlib, pytest

@pytest.fixture
def place():
    yield
    assert not pathlib.Path("broken").exists()

@pytest.mark.real
@pytest.mark.reproduction
@pytest.mark.parametrize("target", TARGETS)
def test_case(target, record_property):
    record_property("verdict", "REPRODUCED")
    record_property("drift", 0.0)

@pytest.mark.real
@pytest.mark.parametrize("target", ["A2/only"])
def test_more_of(target): pass

@pytest.mark.real
def test_torn_down(place): pass

@pytest.mark.real
def test_other():
    assert pathlib.Path("other").exists()

@pytest.mark.real
@pytest.mark.skip(reason='not here')
def test_skipped(): pass

def test_unmarked(): pass
"""


@pytest.fixture
def proofs(pytester, catalog, monkeypatch):
    """Runs pytest with these options on tests that stand for real ones."""
    monkeypatch.setattr(proof, "ROOT", catalog.root)
    monkeypatch.setattr(proof, "TABLE", catalog.root / "proof.csv")
    monkeypatch.setattr(proof, "BEGUN", catalog.root / "proof-begun.csv")
    monkeypatch.setattr(proof, "commit", lambda: "c" * 40)
    pytester.makepyfile(
        test_them=TESTS.replace("TARGETS", repr(["A1/only", "A2/only", "Seed/only"]))
    )
    return lambda *options: pytester.runpytest_inprocess(
        "-p", "support.proving", "-p", "no:cacheprovider", *options
    )


SPREAD = """\
import pytest

@pytest.mark.real
@pytest.mark.reproduction
@pytest.mark.parametrize("target", ["A1/only"])
def test_case(target, spread):
    assert spread == EXPECTED
"""


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], {"jobs": 2, "executor": "local"}),
        (["--proof-jobs", "16"], {"jobs": 16, "executor": "local"}),
        (["--proof-executor", "dask:here:1"], {"jobs": None, "executor": "dask:here:1"}),
        (["--proof-executor", "slurm", "--proof-jobs", "8"], {"jobs": 8, "executor": "slurm"}),
    ],
)
def test_a_proof_is_spread_as_its_options_say(proofs, pytester, options, expected):
    pytester.makepyfile(test_them=SPREAD.replace("EXPECTED", repr(expected)))
    proofs("-m", "real", *options).assert_outcomes(passed=1)


def edit_records(catalog, name):
    path = next(catalog.bug(name).expected.glob("only/buggy-seed0.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"key": "1" * 64}))


def test_a_full_proof_goes_on_where_it_was_stopped_and_writes_the_table(proofs, pytester, catalog):
    old = [row("A3/only", proof.keys(catalog)["A3/only"]), row("A4/only", "0" * 64)]
    proof.write_table(proof.TABLE, old)
    before = proof.TABLE.read_text()
    first = proofs("-m", "real", "--full-proof")
    first.assert_outcomes(passed=5, failed=1, skipped=1, deselected=1)
    first.stdout.fnmatch_lines(
        ["not whole, cases left: 0, other tests left: 1; the same command goes on"]
    )
    assert proof.TABLE.read_text() == before
    assert len(proof.read_table(proof.BEGUN)) == 5
    pytester.path.joinpath("other").touch()
    second = proofs("-m", "real", "--full-proof")
    second.assert_outcomes(passed=1, skipped=1, deselected=6)
    second.stdout.fnmatch_lines(
        ["goes on with a proof of commits ccccccc, 5 tests done; delete proof-begun.csv *"]
    )
    second.stdout.fnmatch_lines(
        ["whole: proof.csv proves 4 cases; commit it", "A4/only: NOT RUN", "A5/only: NOT RUN"]
    )
    rows = proof.read_table(proof.TABLE)
    # A case that was not run here keeps its row while its key is today's.
    assert not proof.BEGUN.exists()
    assert set(rows) == {"A1/only", "A2/only", "A3/only", "Seed/only"}
    assert rows["A3/only"] == old[0]
    assert rows["A1/only"].commit == "c" * 40
    assert rows["A1/only"].drift == "0.0"


def test_a_full_proof_that_goes_on_runs_again_what_has_changed(
    proofs, pytester, catalog, monkeypatch
):
    proofs("-m", "real", "--full-proof").assert_outcomes(
        passed=5, failed=1, skipped=1, deselected=1
    )
    edit_records(catalog, "A2")
    # Its reproduction, and what else is tested of it.
    proofs("-m", "real", "--full-proof").assert_outcomes(
        passed=2, failed=1, skipped=1, deselected=4
    )
    monkeypatch.setattr(proof, "code_key", lambda: "other code")
    pytester.path.joinpath("other").touch()
    proofs("-m", "real", "--full-proof").assert_outcomes(passed=3, skipped=1, deselected=4)
    assert proof.read_table(proof.TABLE)["A2/only"].key == proof.keys(catalog)["A2/only"]


def test_a_part_of_the_cases_writes_no_table(proofs):
    part = proofs("-m", "reproduction", "--full-proof", "-k", "A1 or A2")
    part.assert_outcomes(passed=2, deselected=6)
    part.stdout.fnmatch_lines(["not whole, cases left: 1, other tests left: 4; *"])
    assert not proof.TABLE.exists()
    assert len(proof.read_table(proof.BEGUN)) == 2


def test_all_cases_make_the_table_and_the_other_tests_are_counted(proofs):
    whole = proofs("-m", "reproduction", "--full-proof")
    whole.assert_outcomes(passed=3, deselected=5)
    whole.stdout.fnmatch_lines(
        ["whole: proof.csv proves 3 cases; commit it", "other real tests left: 4"]
    )
    assert not proof.BEGUN.exists()


def test_the_table_of_all_cases_keeps_what_is_known_of_the_other_tests(proofs, pytester):
    pytester.path.joinpath("other").touch()
    proofs("-m", "real", "--full-proof", "-k", "other")
    others = proof.read_table(proof.BEGUN)
    proofs("-m", "reproduction", "--full-proof")
    assert len(proof.read_table(proof.TABLE)) == 3
    assert others
    assert others.items() <= proof.read_table(proof.BEGUN).items()


@pytest.mark.parametrize(
    "options", [["test_them.py"], ["--ignore", "x"], ["--proof-within", "9"], ["-n", "2"]]
)
def test_a_full_proof_is_not_of_some_tests_nor_of_several_at_a_time(proofs, options):
    done = proofs("--full-proof", *(["-p", "xdist"] if "-n" in options else []), *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert not proof.BEGUN.exists()


@pytest.mark.parametrize("commit", ["c" * 40 + "-dirty", ""])
def test_a_full_proof_is_of_a_commit(proofs, monkeypatch, commit):
    monkeypatch.setattr(proof, "commit", lambda: commit)
    assert proofs("-m", "real", "--full-proof").ret == pytest.ExitCode.USAGE_ERROR


def test_what_is_edited_while_a_full_proof_runs_is_not_proven(proofs, pytester, catalog):
    pytester.path.joinpath("other").touch()
    path = next(catalog.bug("A1").expected.glob("only/buggy-seed0.json"))
    tests, key = pytester.path.joinpath("test_them.py"), json.loads(path.read_text())["key"]
    edit = (
        f"    p = pathlib.Path({str(path)!r}); p.write_text(p.read_text().replace({key!r}, '2' * "
        "64))\n"
    )
    head = "def test_case(target, record_property):\n"
    tests.write_text(tests.read_text().replace(head, head + edit))
    done = proofs("-m", "real", "--full-proof")
    done.assert_outcomes(passed=6, skipped=1, deselected=1)
    done.stdout.fnmatch_lines(
        ["A1/only: passed, but the checkout was edited meanwhile: to be run again"]
    )
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert not proof.TABLE.exists()
    assert "A1/only" not in proof.read_table(proof.BEGUN)


def test_what_is_committed_while_a_full_proof_runs_is_not_proven_either(
    proofs, pytester, monkeypatch
):
    pytester.path.joinpath("other").touch()
    commits = iter(["c" * 40, "c" * 40, "d" * 40])
    monkeypatch.setattr(proof, "commit", lambda: next(commits, "d" * 40))
    assert proofs("-m", "real", "--full-proof").ret == pytest.ExitCode.TESTS_FAILED
    assert not proof.TABLE.exists()
    assert len(proof.read_table(proof.BEGUN)) == 1


def test_looking_at_the_tests_of_a_full_proof_writes_nothing(proofs, pytester):
    proofs("--full-proof", "--collect-only")
    pytester.path.joinpath("test_them.py").write_text("")
    proofs("--full-proof")
    assert not proof.TABLE.exists()
    assert not proof.BEGUN.exists()


def test_a_failed_teardown_proves_nothing_and_a_proof_without_tests_left_is_whole(proofs, pytester):
    pytester.path.joinpath("other").touch()
    pytester.path.joinpath("broken").touch()
    first = proofs("-m", "real", "--full-proof", "-k", "not skipped")
    first.assert_outcomes(passed=6, errors=1, deselected=2)
    assert not proof.TABLE.exists()
    assert len(proof.read_table(proof.BEGUN)) == 5
    pytester.path.joinpath("broken").unlink()
    tests = pytester.path.joinpath("test_them.py")
    tests.write_text(tests.read_text().replace("@pytest.mark.skip(reason='not here')\n", ""))
    proofs("-m", "real", "--full-proof").assert_outcomes(passed=2, deselected=6)
    rows = proof.read_table(proof.TABLE)
    # Stopped between the last test and the table.
    proof.write_table(proof.BEGUN, rows.values())
    proof.TABLE.unlink()
    tests.write_text(tests.read_text().split("@pytest.mark.real\n@pytest.mark.parametrize")[0])
    again = proofs("-m", "real", "--full-proof")
    assert again.ret == 0
    assert proof.read_table(proof.TABLE) == rows
    assert not proof.BEGUN.exists()


def test_a_failure_of_another_test_keeps_a_full_proof_from_being_whole(proofs, pytester):
    pytester.path.joinpath("other").touch()
    pytester.makepyfile(test_another="def test_unmarked(): assert False")
    proofs("--full-proof").assert_outcomes(passed=7, failed=1, skipped=1)
    assert not proof.TABLE.exists()
    assert len(proof.read_table(proof.BEGUN)) == 6
    proofs("-m", "real", "--full-proof")
    assert len(proof.read_table(proof.TABLE)) == 3


def test_a_bounded_proof_runs_what_is_planned_and_names_what_it_does_not_run(proofs, catalog):
    whole = table(catalog)
    proof.write_table(
        proof.TABLE, [row for name, row in whole.items() if name not in ("A1/only", "Data/only")]
    )
    within = proofs("-m", "real", "--proof-within", "600")
    within.assert_outcomes(passed=3, deselected=5)
    within.stdout.fnmatch_lines(
        [
            "Seed/only (seed bug): REPRODUCED",
            "A1/only (not in the table): REPRODUCED",
            "A2/only (share of the others): REPRODUCED",
            "A3/only (share of the others): NOT RUN",
            "Data/only (not in the table): NOT RUN, needs data: left to the full proof",
        ]
    )
    late = proofs("-m", "real", "--proof-within", "0")
    late.assert_outcomes(passed=1, skipped=1, deselected=6)
    late.stdout.fnmatch_lines(
        ["Seed/only (seed bug): REPRODUCED", "A1/only (not in the table): NOT RUN"]
    )
    late.stdout.fnmatch_lines(["6 other cases: proven by proof.csv, 2026-11-21 to 2026-11-21"])
    proof.write_table(proof.BEGUN, [whole["A1/only"]])
    begun = proofs("-m", "real", "--proof-within", "0")
    begun.stdout.fnmatch_lines(
        ["7 other cases: proven by proof.csv and proof-begun.csv, 2026-11-21 to 2026-11-21"]
    )
    proof.BEGUN.unlink()
    assert (
        proofs("--proof-within", "9", "-p", "xdist", "-n", "2").ret == pytest.ExitCode.USAGE_ERROR
    )
    (catalog.bug("A1").directory / "config.json").write_text("{")
    assert proofs("--proof-within", "9").ret == pytest.ExitCode.USAGE_ERROR


def test_the_real_tests_are_in_the_order_of_the_plan(tmp_path):
    """Each environment is built once: conftest's order of the real tests, and of the plan,
    is one after the other.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "real", "--proof-within", "600", "--collect-only", "-q"],
        cwd=proof.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if "::test_every_bug_reproduces" in line]
    parameters = [line.split("[")[1].rstrip("]") for line in lines]
    catalog = Catalog(proof.ROOT)
    planned = proof.plan(catalog, proof.proven(), proof.commit()[:40], proof.missing_needs(), 600.0)
    pairs = list(zip(parameters, planned.reasons, strict=True))
    assert pairs
    assert all(parameter.endswith(f"-{name}") for parameter, name in pairs)
    environments = [parameter.removesuffix(f"-{name}") for parameter, name in pairs]
    assert len(list(itertools.groupby(environments))) == len(set(environments))
    assert {"PyTorch-115607/simple", "SO-60335387/digits"} <= set(planned.reasons)


def test_the_commit_is_dirty_where_what_is_proven_was_edited(tmp_path, monkeypatch):
    monkeypatch.setattr(proof, "ROOT", tmp_path)
    assert proof.commit() == ""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t"]
    for path in (
        "runner/a.py",
        "tests/test_a.py",
        "bugs/B/buggy.py",
        "bugs/B/README.md",
        "bugs/B/expected/r.json",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    assert len(proof.commit()) == 40
    code = proof.code_key()
    for path in ("bugs/B/README.md", "tests/proof-begun.csv"):
        (tmp_path / path).write_text("edited")
    assert len(proof.commit()) == 40
    assert proof.code_key() == code
    (tmp_path / "bugs/B/expected/r.json").write_text("edited")
    assert len(proof.commit()) == 40
    assert proof.code_key() != code
    code = proof.code_key()
    for path in ("bugs/B/buggy.py", "tests/test_a.py"):
        (tmp_path / path).write_text("edited")
        assert proof.commit().endswith("-dirty")
        assert proof.code_key() != code
        subprocess.run([*git, "checkout", "-q", path], check=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert proof.commit() == ""


def test_the_committed_table_can_be_read():
    for proven in proof.read_table(proof.TABLE).values():
        assert proven.verdict == "REPRODUCED"
        assert len(proven.key) == 64
        assert len(proven.commit) == 40
        assert proven.machine
        assert datetime.fromisoformat(proven.date).tzinfo
        assert float(proven.drift) >= 0
        assert float(proven.seconds) >= 0


def test_the_code_of_this_checkout_has_a_key():
    """It holds links to folders."""
    assert len(proof.code_key()) == 64
