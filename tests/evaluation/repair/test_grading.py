"""Repairs of the toy bug, run and judged."""

import pytest
from support.toy import SCRIPT, toy_config

from evaluation.repair import drawn_seeds
from evaluation.repair.drawn_seeds import draw_seeds
from evaluation.repair.grading import changed_lines, grade
from evaluation.repair.patches import Patch
from evaluation.repair.tasks import repairable

ID = "0123456789abcdef"
BUGGY, FIXED = SCRIPT.replace("VALUE", "1"), SCRIPT.replace("VALUE", "2")


@pytest.fixture
def graded(toy, toy_environment, monkeypatch):
    """Grades a program in the place of the buggy one."""
    monkeypatch.setattr(drawn_seeds, "draw_seeds", lambda count: tuple(range(5000, 5000 + count)))

    def grade_script(script=None, drawn=1, **patch):
        (target,), _ = repairable(toy.catalog)
        patches = [Patch(ID, script=script, **patch)]
        (result,) = grade(toy.session(), patches, {ID: target}, drawn)
        return result

    return grade_script


def test_the_fixed_twin_is_fixed_and_the_buggy_one_is_not(graded, toy):
    scripts = {name: (toy.directory / f"{name}.py").read_text() for name in ("buggy", "fixed")}
    fixed = graded(scripts["fixed"])
    assert (fixed.outcome, fixed.held, fixed.same) == ("FIXED", (0, 1, 5000), (0, 1, 5000))
    assert fixed.changed == fixed.real > 0
    buggy = graded(scripts["buggy"])
    assert (buggy.outcome, buggy.held, buggy.changed) == ("NOT FIXED", (), 0)
    assert graded(scripts["buggy"], drawn=0).same == ()
    assert buggy.reason.startswith("seed 0: ")


@pytest.fixture
def measuring(toy):
    """The fault is in the measurement."""
    labels = toy_config()["labels"] | {"stage": "evaluation", "effect": "wrong evaluation"}
    toy.configure(labels=labels)


@pytest.mark.usefixtures("measuring")
def test_what_works_on_the_seeds_of_the_case_alone_is_partly_fixed(graded, toy):
    text = (toy.directory / "fixed.py").read_text()
    factor = next(word for word in ("2 * epoch", "2 *") if word in text)
    known = text.replace(factor, factor.replace("2", '(2 if config["seed"] < 10 else 1)'))
    result = graded(known)
    assert (result.outcome, result.held) == ("PARTLY", (0, 1))


def test_a_program_that_fails_is_invalid(graded, toy):
    text = (toy.directory / "fixed.py").read_text()
    result = graded(text.replace("records = []", "records = []\nraise ValueError('mine')"))
    assert result.outcome == "INVALID"
    assert "mine" in result.reason


def test_what_is_no_python_is_invalid_and_nothing_runs(graded, toy):
    assert graded("def").outcome == "INVALID"
    assert not list(toy.results.rglob("*-seed*.json"))


def test_a_diff_that_does_not_apply_is_invalid(graded):
    assert graded(patch="no diff").outcome == "INVALID"


def test_what_is_refused_does_not_run(graded, toy):
    text = (toy.directory / "buggy.py").read_text()
    result = graded(text.replace("records = []", 'records = []\nconfig["num_epoch"] = 3'))
    assert result.outcome == "REFUSED"
    assert not list(toy.results.rglob("*-seed*.json"))


def test_a_reason_is_cut(graded, toy):
    text = (toy.directory / "buggy.py").read_text()
    result = graded("".join(f"import module{number}\n" for number in range(5000)) + text)
    assert result.outcome == "REFUSED"
    assert result.reason.startswith("it imports module0")
    assert len(result.reason) <= 2001


def test_a_drawn_seed_on_which_the_fixed_twin_fails_does_not_count(graded, toy):
    text = (toy.directory / "fixed.py").read_text()
    factor = next(word for word in ("2 * epoch", "2 *") if word in text)
    toy.write(
        "fixed.py", text.replace(factor, factor.replace("2", '(2 if config["seed"] < 10 else 1)'))
    )
    assert graded((toy.directory / "fixed.py").read_text()).seeds == (0, 1)


@pytest.mark.usefixtures("measuring")
def test_an_evaluation_has_to_measure_what_the_fixed_one_measures(graded, toy):
    text = (toy.directory / "fixed.py").read_text()
    assert graded(text).outcome == "FIXED"
    better = text.replace('+ config["seed"]}', '+ config["seed"] + 0.5 * (epoch == 1)}')
    assert better != text
    result = graded(better, drawn=0)
    assert result.outcome == "NOT FIXED"
    assert "in the fixed program" in result.reason


@pytest.mark.usefixtures("measuring")
@pytest.mark.parametrize(("change", "outcome"), [("1e-9", "FIXED"), ("1e-5", "NOT FIXED")])
def test_rounding_breaks_no_expectation_of_equal_numbers(graded, toy, change, outcome):
    text = (toy.directory / "fixed.py").read_text()
    other = text.replace('+ config["seed"]}', f'+ config["seed"] + {change}}}')
    assert other != text
    result = graded(other, drawn=0)
    assert (result.outcome, result.same) == (outcome, (0, 1)), result.reason


def test_seeds_are_drawn_anew_and_are_no_small_ones():
    first, second = draw_seeds(3), draw_seeds(3)
    assert first != second
    assert min(first) >= 1000
    assert len(set(first)) == 3


def test_lines_of_a_change():
    assert changed_lines("a\nb\n", "a\nb\n") == 0
    assert changed_lines("a\nb\n", "a\nc\nd\n") == 2
    assert changed_lines("a\nb\nc\n", "a\n") == 2


def test_two_patches_of_one_name_get_their_own_grades(toy, toy_environment, monkeypatch):
    monkeypatch.setattr(drawn_seeds, "draw_seeds", lambda count: tuple(range(5000, 5000 + count)))
    (target,), _ = repairable(toy.catalog)
    texts = [(toy.directory / f"{name}.py").read_text() for name in ("buggy", "fixed", "buggy")]
    patches = [Patch(ID, script=text) for text in texts]
    grades = list(grade(toy.session(), patches, {ID: target}, 1))
    assert [item.outcome for item in grades] == ["NOT FIXED", "FIXED", "NOT FIXED"]


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("maximum recursion depth")])
def test_a_text_that_is_too_deep_to_be_parsed_is_invalid(graded, monkeypatch, error):
    def parse(*_):
        raise error

    monkeypatch.setattr("evaluation.repair.grading.refusals", parse)
    result = graded("pass\n")
    assert result.outcome == "INVALID"
    assert result.reason.startswith("it is no Python, or too deep")


def test_a_text_that_exhausts_the_parser_is_invalid(graded):
    assert graded("-" * 200_000).outcome == "INVALID"


def test_a_binary_patch_is_invalid(graded):
    result = graded(patch="literal 3\n+y\nGIT binary patch")
    assert result.outcome == "INVALID"
    assert "no diff of one file" in result.reason


def test_the_same_patches_are_graded_on_the_same_drawn_seeds_and_nothing_runs_again(
    toy, toy_environment
):
    (target,), _ = repairable(toy.catalog)
    patch = Patch(ID, script=(toy.directory / "fixed.py").read_text())

    def graded_seeds(*patches, drawn=2):
        (first, *_) = grade(toy.session(), patches, {ID: target}, drawn)
        return first.seeds

    seeds = graded_seeds(patch)
    records = {path: path.stat().st_mtime_ns for path in toy.results.rglob("*-seed*.json")}
    assert graded_seeds(patch) == seeds
    after = {path: path.stat().st_mtime_ns for path in toy.results.rglob("*-seed*.json")}
    assert after == records
    other = Patch(ID, script=f"{patch.script}\n")
    assert graded_seeds(other)[2:] != seeds[2:]
    assert len(graded_seeds(patch, drawn=1)) == 3


@pytest.mark.parametrize(
    "text", ["", "[", '{"seeds": [1, 2]}', '{"seeds": [5000]}', "[5000, 5001]"]
)
def test_a_file_of_drawn_seeds_that_is_none_is_written_anew(toy, text):
    def seeds():
        return drawn_seeds.seeds_for(toy.session().store, [(Patch(ID, script=""), "case")], 2)

    first = seeds()
    assert seeds() == first
    (path,) = (toy.results / drawn_seeds.FOLDER).iterdir()
    path.write_text(text)
    second = seeds()
    assert len(second) == 2
    assert seeds() == second


@pytest.mark.parametrize(("model", "by"), [("-", ""), ("a\x1b[31m b", " of a\\x1b[31m b")])
def test_progress_tells_whose_patch_runs(graded, capsys, model, by):
    graded(FIXED + "\n", drawn=0, model=model)
    assert f"seed 0 (patch {ID}{by}): " in capsys.readouterr().err
