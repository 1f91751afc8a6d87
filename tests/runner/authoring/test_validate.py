"""A bug directory is well formed, or every problem is listed; each check is broken once and must complain."""

import json
import shutil

import pytest
from support.records import as_pinned
from support.toy import toy_config

from runner.authoring.validate import problems
from runner.session.promote import promote_runs


@pytest.fixture
def whole(toy, toy_environment):
    """The toy bug with everything that a bug needs."""
    promote_runs([as_pinned(toy.run())])
    return toy


def test_a_whole_bug_has_no_problems(whole):
    assert problems(whole.directory, whole.root) == []


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def drop_expectation(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"] = config["cases"]["only"]["expectations"][:1]
    toy.configure(cases=config["cases"])


def list_without_all(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][0] |= {"value": [1, 2], "op": "=="}
    toy.configure(cases=config["cases"])


def unknown_metric(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][0]["metric"] = "acuracy"
    toy.configure(cases=config["cases"])


def unknown_metric_in_a_figure(toy):
    toy.configure(plot={"x": "epoch", "panels": [{"label": "l", "lines": [{"label": "l", "metric": "los"}]}]})


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda t: t.write("config.json", "{"), "not JSON"),
        (lambda t: (t.directory / "fixed.py").unlink(), "there is no fixed.py"),
        (lambda t: t.write("fixed.py", "def"), "fixed.py: line 1: "),
        (lambda t: t.write("fixed.py", "import runner.errors\n"), "imports runner"),
        (lambda t: t.write("fixed.py", "import buggy\n"), "imports buggy.py, a variant's script"),
        (lambda t: t.write("fixed.py", "from plots import curves\n"), "imports plots"),
        (lambda t: edit(t.directory / "buggy.py", "import sys", "import sys  # BUG: here"), "line 2 says 'BUG'"),
        (lambda t: t.write("helper.py", '"""The fixed one."""\n'), "helper.py: line 1 says 'fixed'"),
        (lambda t: (t.directory / "README.md").unlink(), "there is no README.md"),
        (lambda t: edit(t.directory / "README.md", "https://example.org/toy", "x"), "does not link to the source"),
        (lambda t: edit(t.directory / "README.md", "## Impact", ""), "no section '## Impact'"),
        (lambda t: edit(t.directory / "README.md", "+    record", "+    the_record"), "lacks the real difference"),
        (lambda t: edit(t.directory / "fixed.py", "2 * epoch", "3 * epoch"), "lacks the real difference"),
        (lambda t: shutil.copy(t.directory / "buggy.py", t.directory / "fixed.py"), "same script in the same env"),
        (lambda t: t.configure(volatile=["accuracy"]), "judges accuracy, which is volatile"),
        (drop_expectation, "no expectation is about variant fixed"),
        (list_without_all, "needs reduce all, not last"),
        (unknown_metric, "metric 'acuracy' is missing"),
        (unknown_metric_in_a_figure, "metric 'los' is missing"),
        (lambda t: t.configure(environment="torch-9"), "no environment 'torch-9'; expected one of toy"),
        (lambda t: t.configure(site={"file": "buggy.py", "line": 99, "api": "x"}), "site.line is 99, buggy.py has"),
        (lambda t: t.write("helper.py", "x = 1\n"), "is of other scripts, parameters or another lock"),
        (lambda t: t.configure(parameters=toy_config()["parameters"] | {"num_epoch": 4}), "is of other scripts"),
        (lambda t: edit(t.root / "environments/toy/requirements.txt", "toypackage", "# x\ntoypackage"), "another lock"),
        (lambda t: (t.directory / "buggy.py").write_bytes(b"\xff\xfe"), "buggy.py: cannot be read as UTF-8"),
        (lambda t: (t.directory / "README.md").write_bytes(b"\xff\xfe"), "README.md: cannot be read as UTF-8"),
        (lambda t: edit(t.directory / "expected/only/buggy-seed0.json", '"accuracy": 2', '"acc": 2'), "seed 0: metric"),
        (lambda t: (t.directory / "expected" / "only" / "buggy-seed1.json").unlink(), "has 3 of 4 runs"),
        (lambda t: (t.directory / "expected" / "only" / "buggy-seed1.json").write_text("{"), "not a run record"),
    ],
)
def test_every_problem_is_found(whole, spoil, words):
    spoil(whole)
    found = problems(whole.directory, whole.root)
    assert any(words in problem for problem in found), found


def test_all_problems_are_listed_at_once(whole):
    (whole.directory / "README.md").unlink()
    whole.configure(site={"file": "buggy.py", "line": 99, "api": "x"})
    edit(whole.directory / "fixed.py", "import sys", "import sys  # fixed")
    found = problems(whole.directory, whole.root)
    # Two of them: the records of fixed.py are outdated, those of buggy.py are not.
    assert len(found) == 5 and len({problem.split(":")[0] for problem in found}) == 5
    assert [problem.split(" ")[0] for problem in found[3:]] == [f"expected/only/fixed-seed{n}.json" for n in (0, 1)]


def test_expected_records_of_another_seed_are_no_substitute(whole):
    whole.configure(seeds=[0, 5])
    assert "has 2 of 4 runs" in problems(whole.directory, whole.root)[0]


def test_a_directory_outside_the_catalogue(whole, tmp_path):
    elsewhere = tmp_path / "my-own"
    shutil.copytree(whole.directory, elsewhere)
    assert problems(elsewhere, whole.root) == []
    assert json.loads((elsewhere / "config.json").read_text())["id"] == "Toy-1"
