"""The variant `upstream`: the buggy script in an environment with the real fix; it never changes
the verdict.
"""

import json
import shutil

import pytest
from support.copies import replace
from support.environments import QUIET
from support.records import record
from support.toy import SCRIPT, toy_config

from runner.authoring.validate import problems
from runner.bugs.catalog import with_upstream
from runner.errors import CatalogError, UsageError
from runner.results.expected import expected_paths, seconds, upstream_records
from runner.session.options import Options
from runner.session.promote import promote_runs
from runner.session.session import Session
from runner.verdicts.verdict import verify

# Behaves by the environment that runs it, as a script does whose fault is in a package.
BY_PLACE = SCRIPT.replace("VALUE", "(2 if 'mended' in sys.executable else 1)")
ALONE = {
    "statement": "6 and more",
    "variant": "fixed",
    "metric": "accuracy",
    "reduce": "last",
    "op": ">=",
    "value": 6,
}


def configure(toy, **changes):
    config = toy_config(fixed={"package": "torch", "versions": ["9.9"]})
    case = config["cases"]["only"]
    case["variants"]["upstream"] = {"environment": "mended"}
    case["expectations"].append(ALONE)
    toy.configure(**(config | changes))
    return toy


@pytest.fixture
def mended(toy, toy_environment):
    """The toy bug with a release in which it is mended."""
    shutil.copytree(toy_environment, toy.root / "environments" / "mended")
    toy.write("buggy.py", BY_PLACE)
    return configure(toy)


def run(toy, *names, upstream=False, **options):
    session = Session(toy.catalog, Options(results=toy.results, device="cpu", **options), QUIET)
    targets = toy.catalog.select(names or ["Toy-1"])
    return session.run([with_upstream(target) for target in targets] if upstream else targets)[0]


def test_it_is_run_only_where_it_is_asked_for(mended):
    assert mended.catalog.select(["Toy-1"])[0].variants == ("buggy", "fixed")
    assert mended.catalog.select(["Toy-1/only/upstream"])[0].variants == ("upstream",)
    assert with_upstream(mended.catalog.select(["Toy-1"])[0]).variants == (
        "buggy",
        "fixed",
        "upstream",
    )


def test_the_buggy_script_behaves_as_fixed_there(mended):
    outcome = run(mended, upstream=True)
    assert (outcome.verdict.outcome, outcome.verdict.upstream.behaves) == ("REPRODUCED", True)
    assert {(record.variant, record.runtime.environment) for record in outcome.records} == {
        ("buggy", "toy"), ("fixed", "toy"), ("upstream", "mended")
    }  # fmt: skip
    written = json.loads((mended.results / "Toy-1" / "only" / "verdict.json").read_text())
    assert written["verdict"] == "REPRODUCED"
    assert written["upstream"]["behaves"] is True


def test_a_release_that_is_not_mended_is_told_and_changes_no_verdict(mended):
    mended.write("buggy.py", SCRIPT.replace("VALUE", "1"))
    outcome = run(mended, upstream=True)
    assert (outcome.verdict.outcome, outcome.verdict.upstream.behaves) == ("REPRODUCED", False)
    assert "fixed is higher by 3" in outcome.verdict.upstream.reason
    assert outcome.verdict.failed
    with pytest.raises(UsageError, match="only/upstream does not behave as fixed"):
        promote_runs([outcome])


def test_alone_it_is_judged_by_what_is_expected_of_fixed_alone(mended):
    outcome = run(mended, "Toy-1/only/upstream")
    assert (outcome.verdict.outcome, outcome.verdict.upstream.behaves) == (None, True)
    case = mended.bug.cases["only"]
    assert verify(case, [record("upstream", accuracies=(1, 2, 5))]).upstream.behaves is False
    assert verify(case, [record("upstream", accuracies=(1, 2))]).upstream.behaves is None


def test_without_an_expectation_about_fixed_alone_it_is_undecided(mended):
    case = mended.bug.cases["only"]
    case = replace(case, oracle=replace(case.oracle, expectations=case.oracle.expectations[:2]))
    upstream = verify(case, [record("upstream", accuracies=(2, 4, 6))]).upstream
    assert upstream.behaves is None
    assert "no expectation is about the fixed variant alone" in upstream.reason


def test_its_expected_records_lie_apart_and_are_validated(mended, monkeypatch):
    monkeypatch.setattr("runner.session.promote._refuse_unexpected", lambda outcome: None)
    promote_runs([run(mended, upstream=True)])
    # The README still shows the other scripts of the toy.
    assert [line for line in problems(mended.directory, mended.root) if "README" not in line] == []
    pair = expected_paths(mended.bug, "only")
    assert [path.name for path in pair] == [
        f"{v}-seed{s}.json" for v in ("buggy", "fixed") for s in (0, 1)
    ]
    assert {record.variant for record in upstream_records(mended.bug, "only")} == {"upstream"}
    assert seconds(mended.bug, mended.bug.cases["only"]) < 4
    assert run(mended, "Toy-1/only/upstream").drift == 0

    path = mended.directory / "expected" / "only" / "upstream" / "upstream-seed1.json"
    text = path.read_text()
    path.unlink()
    assert any(
        "expected/only/upstream has runs of 1 of 2 seeds" in line
        for line in problems(mended.directory, mended.root)
    )
    path.write_text(text)
    mended.write("buggy.py", BY_PLACE + "\n")
    assert any(
        "upstream-seed0.json is of other scripts" in line
        for line in problems(mended.directory, mended.root)
    )


def test_validate_asks_for_it_where_an_environment_has_the_fix(toy, toy_environment):
    # Another package's environment may have this torch, too.
    for name in ("monai-1.6", "torch-9.9"):
        mended_environment = toy.root / "environments" / name
        shutil.copytree(toy_environment, mended_environment)
        (mended_environment / "requirements.txt").write_text(
            "torch==9.9 --hash=sha256:" + 64 * "0" + "\n"
        )
    fixed = {"package": "torch", "versions": ["9.8", "9.9"]}
    toy.configure(fixed=fixed)
    request = "case only has no variant upstream: the real fix is in torch-9.9"
    assert any(request in line for line in problems(toy.directory, toy.root))
    case = toy_config()["cases"]["only"]
    toy.configure(fixed=fixed, cases={"only": case | {"portable": False}})
    assert not any(request in line for line in problems(toy.directory, toy.root))


def test_it_has_no_script_of_its_own(mended):
    case = toy_config()["cases"]["only"]
    case["variants"]["upstream"] = {"script": "other.py", "environment": "toy"}
    mended.configure(cases={"only": case})
    with pytest.raises(CatalogError, match="script"):
        mended.bug  # noqa: B018


def test_a_row_of_its_own_in_the_table(mended, cli):
    status, out, _ = cli("run", "Toy-1", "--upstream", "--device", "cpu", "--figures")
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert rows[1][:3] == ["Toy-1/only", "REPRODUCED", "4"]
    assert rows[2][:4] == ["Toy-1/only/upstream", "as", "fixed", "2"]
    assert "mended:" in rows[2]
    mended.write("buggy.py", SCRIPT.replace("VALUE", "1"))
    status, out, _ = cli("run", "Toy-1/only/upstream", "--device", "cpu")
    assert status == 1
    assert out.splitlines()[1].startswith("Toy-1/only/upstream")
    assert "not as fixed" in out
    assert cli("run", "Toy-1", "--upstream", "--environment", "mended")[0] == 2
