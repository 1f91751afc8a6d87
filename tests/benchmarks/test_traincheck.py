"""The experiment with TrainCheck: its pure parts, the committed table,
and what its page says of it.
"""

import csv
import importlib
import re
import sys
from operator import itemgetter

import pytest
from support.paths import ROOT

from evaluation.catalog import development, submissions

FOLDER = ROOT / "benchmarks" / "traincheck"
PAGE = (ROOT / "docs" / "traincheck.md").read_text()


@pytest.fixture(scope="module")
def modules():
    """The modules of the experiment, which lie beside its script."""
    sys.path.insert(0, str(FOLDER))
    names = ("declared", "programs", "parts", "invariants", "experiment", "table", "page")
    imported = {name: importlib.import_module(name) for name in names}
    yield imported
    sys.path.remove(str(FOLDER))
    for name in names:
        del sys.modules[name]


def invariant(
    relation="APIContainRelation", api="torch.optim.adam.Adam.step", values=(1, 2), examples=3
):
    clause = {"prop_name": "meta_vars.stage", "values": list(values)}
    return {
        "text_description": f"about {api}",
        "relation": relation,
        "params": [{"param_type": "APIParam", "api_full_name": api}],
        "precondition": {"parent": {"inverted": False, "preconditions": [{"clauses": [clause]}]}},
        "num_positive_examples": examples,
    }


def test_an_invariant_is_the_same_with_other_examples_and_another_order_of_values(modules):
    identity = modules["invariants"].identity
    assert identity(invariant(values=(1, 2), examples=3)) == identity(
        invariant(values=(2, 1), examples=9)
    )
    assert identity(invariant(values=(1, 2))) != identity(invariant(values=(1, 3)))


def test_the_order_of_what_a_relation_is_between_matters(modules):
    first, second = invariant(), invariant()
    first["params"] = [{"api_full_name": "a"}, {"api_full_name": "b"}]
    second["params"] = first["params"][::-1]
    assert modules["invariants"].identity(first) != modules["invariants"].identity(second)


def test_a_log_of_the_checker_is_read(modules, tmp_path):
    text = "\n".join(
        modules["invariants"].json.dumps({"invariant": invariant(api=api)}, indent=4)
        for api in "ab"
    )
    (tmp_path / "failed.log").write_text(f"{text}\n")
    assert len(modules["invariants"].violated(tmp_path / "failed.log")) == 2
    (tmp_path / "failed.log").write_text("")
    assert modules["invariants"].violated(tmp_path / "failed.log") == frozenset()


@pytest.mark.parametrize(
    ("rule", "relation", "counted"),
    [
        ("any", "FunctionLeadRelation", True),
        ("no-cover-or-lead", "FunctionLeadRelation", False),
        ("no-cover-or-lead", "ConsistencyRelation", True),
        ("contain", "ConsistencyRelation", False),
        ("contain", "APIContainRelation", True),
        ("beyond-held-out", "FunctionCoverRelation", True),
    ],
)
def test_what_a_rule_counts(modules, rule, relation, counted):
    assert modules["invariants"].counts(invariant(relation), rule) is counted


def test_a_site_is_named_by_any_path_of_its_function(modules):
    relation = invariant(api="torch.optim.optimizer.Optimizer.zero_grad")
    assert modules["invariants"].names(relation, "torch.optim.Optimizer.zero_grad")
    assert not modules["invariants"].names(relation, "torch.optim.Optimizer.step")


def test_what_is_listed_is_violated_by_the_buggy_program_alone(modules):
    listed = modules["table"].violated(
        "A/a", findings(modules, buggy=(0, 1), fixed=(0,), held_out=(1,))
    )
    assert [(row["case"], row["relation"]) for row in listed] == [("A/a", "FunctionLeadRelation")]
    assert not list(
        modules["table"].violated("A/a", findings(modules, buggy=(0, 1), **{"reference-1": (0, 1)}))
    )


def findings(modules, **violated):
    """One reference, two invariants: one about step,
    and one about zero_grad that is of the noisy kind.
    """
    both = [
        invariant(),
        invariant("FunctionLeadRelation", "torch.optim.optimizer.Optimizer.zero_grad"),
    ]
    identities = [modules["invariants"].identity(relation) for relation in both]
    names = {"reference-1": (), "held-out": (), "fixed": (), "buggy": (), **violated}
    return modules["experiment"].Found(
        {1: dict(zip(identities, both, strict=True))},
        {
            name.replace("_", "-"): frozenset(map(identities.__getitem__, indices))
            for name, indices in names.items()
        },
    )


def judged(modules, dropping, rule, **violated):
    outcome = findings(
        modules, **{name.replace("_", "-"): indices for name, indices in violated.items()}
    )
    seconds = {
        name: (1.0, 1.0)
        for name in ("bare-fixed", "trace-full-fixed", "infer-full-1", "check-full-fixed")
    }
    rows = modules["table"].rows("A/a", "torch.optim.Optimizer.zero_grad", "full", outcome, seconds)
    (row,) = (row for row in rows if (row["dropping"], row["rule"]) == (dropping, rule))
    return row


def test_a_case_is_paired_by_an_alarm_on_buggy_and_none_on_fixed(modules):
    row = judged(modules, "nothing", "any", buggy=(0, 1))
    assert row["paired"] == "yes"
    assert row["only_on_buggy"] == 2
    assert row["site"] == "yes"
    assert row["best"] == "FunctionLeadRelation: about torch.optim.optimizer.Optimizer.zero_grad"
    assert judged(modules, "nothing", "any", buggy=(0, 1), fixed=(0,))["paired"] == "no"
    assert judged(modules, "nothing", "contain", buggy=(1,))["paired"] == "no"


def test_what_clean_runs_violate_is_dropped(modules):
    violated = {"buggy": (0, 1), "fixed": (0,), "held_out": (0,)}
    assert judged(modules, "own", "any", **violated)["paired"] == "no"
    row = judged(modules, "own and held-out", "any", **violated)
    assert row["paired"] == "yes"
    assert row["invariants"] == 1
    assert judged(modules, "own", "any", buggy=(0,), reference_1=(0, 1))["invariants"] == 0


def test_as_many_violations_as_on_the_run_that_is_held_out_are_no_alarm(modules):
    violated = {"buggy": (0, 1), "fixed": (0,), "held_out": (0,)}
    assert judged(modules, "nothing", "beyond-held-out", **violated)["paired"] == "yes"
    assert (
        judged(modules, "nothing", "beyond-held-out", buggy=(1,), held_out=(0,))["paired"] == "no"
    )


def test_each_declared_case_can_be_laid_out(modules, tmp_path):
    for declared in modules["declared"].cases():
        place = modules["programs"].Place(
            tmp_path / declared.folder, tmp_path / "python", tmp_path / "packages"
        )
        for variant in ("fixed", "buggy"):
            folder = modules["programs"].lay_out(declared, variant, 0, place, variant)
            assert ((folder / "program.py").read_text() == (folder / "bare.py").read_text()) is (
                not declared.edits
            )


def test_a_part_is_not_done_again_and_one_without_time_left_is_over(modules, tmp_path):
    place = modules["programs"].Place(tmp_path, tmp_path, tmp_path)
    parts = modules["parts"].Parts(place, 60)
    parts.run("one", [sys.executable, "-c", "open('made', 'x')"], tmp_path / "at")
    parts.run("one", [sys.executable, "-c", "open('made', 'x')"], tmp_path / "at")
    with pytest.raises(modules["parts"].FailedError, match="two: FileExistsError"):
        parts.run("two", [sys.executable, "-c", "open('made', 'x')"], tmp_path / "at")
    with pytest.raises(modules["parts"].OverError, match="0 minutes were over in three"):
        modules["parts"].Parts(place, 0).run(
            "three", [sys.executable, "-c", "import time; time.sleep(60)"], tmp_path / "at"
        )


@pytest.fixture
def rows(modules):
    return modules["page"].read()


def test_each_declared_case_has_its_rows_and_each_choice_one(modules, rows):
    declared = {case.case: case for case in modules["declared"].cases()}
    assert modules["page"].names(rows) == list(declared)
    keys = [*map(itemgetter(*modules["table"].KEYS), rows)]
    assert len(set(keys)) == len(keys)
    for name, case in declared.items():
        rows_of_case = [row for row in rows if row["case"] == name]
        assert ({row["status"] for row in rows_of_case} == {"not run"}) is bool(case.not_run)
        counts = {
            int(row["references"])
            for row in rows_of_case
            if (row["tracing"], row["status"]) == ("full", "ok")
        }
        assert counts in (set(), set(case.counts))
        assert all(row["reason"] for row in rows_of_case if row["status"] != "ok")


def test_the_page_has_the_cells_of_each_case_that_was_run(modules, rows):
    lines = PAGE.splitlines()
    for case in modules["page"].names(rows):
        cells = modules["page"].cells(rows, case)
        matching = [
            line
            for line in lines
            if line.startswith(f"| {case} | ") and f" | {' | '.join(cells)} | " in line
        ]
        assert len(matching) == ("not run" not in cells)


def test_the_page_has_the_tables_of_choices_and_costs(modules, rows):
    assert modules["page"].choices(rows) in PAGE
    assert modules["page"].costs(rows) in PAGE


def test_what_the_page_says_of_its_cases_is_in_the_table(modules, rows):
    declared = modules["declared"].cases()
    assert len(declared) == 13
    assert not any(case.not_run for case in declared)
    assert "Of the 13 cases nine" in PAGE
    forum = modules["page"].chosen(rows, "Forum-84911/digits", "full", "1", "own", "any")
    assert forum["on_fixed"] == "1"
    assert forum["on_held_out"] == "1"
    first = [modules["page"].chosen(rows, "SO-60335387/digits", *key) for key in (
        ("sampled", "2", "nothing", "any"), ("sampled", "2", "own", "any"), ("full", "2", "nothing", "any"),
        ("full", "4", "nothing", "any"), ("full", "6", "nothing", "any"),
    )]  # fmt: skip
    assert [row["on_fixed"] for row in first] == ["16", "9", "7", "7", "7"]


def test_the_invariants_that_the_page_quotes_are_violated_by_the_buggy_program_alone(modules, rows):
    every = list(csv.DictReader((FOLDER / "violated.csv").read_text().splitlines()))
    texts = {case: [] for case in modules["page"].names(rows)}
    for row in every:
        if row["case"] in texts:
            texts[row["case"]].append(row["invariant"])
    for case, violated in texts.items():
        row = modules["page"].chosen(
            rows, case, "full", modules["page"].most(rows, case), "own", "any"
        )
        assert len(violated) == int(row["only_on_buggy"] if row else 0), case
    same = "Parameter.data stays consistent across training steps"
    assert {case for case, violated in texts.items() if same in violated} == {
        "PyTorch-104336/pendulum", "x-jxmnop-ddp-out-of-sync/retrieval", "DeepSpeed-1801/letters",
    }  # fmt: skip
    for line in PAGE.splitlines():
        case = line.removeprefix("| ").split(" | ")[0]
        for quoted in (
            re.findall(r'"([^"]+)"', line) if line.count(" | ") == 5 and case in texts else ()
        ):
            assert (
                quoted in texts[case]
                or quoted == "Optimizer.zero_grad() always occurs when Adam.step() is called"
            )


def test_what_the_smallest_programs_printed_is_what_the_page_shows():
    failures, text = FOLDER / "failures", " ".join(PAGE.split())
    assert f"```\n{(failures / 'compiled.txt').read_text()}```" in PAGE
    assert all(
        line.removeprefix("APIContainRelation: ") in text
        for line in (failures / "own.txt").read_text().splitlines()
    )
    for name in ("sparse", "listed"):
        assert f'"{(failures / f"{name}.txt").read_text().strip()}"' in text
    assert all(len(path.read_text().splitlines()) < 20 for path in failures.glob("*.py"))


def test_the_cases_by_which_its_settings_were_chosen_are_known(modules):
    """Three of the 13 were run later, when the settings stood."""
    later = {"PyTorch-104336", "Transformers-33455", "Transformers-34204"}
    ran = {case.case.split("/")[0] for case in modules["declared"].cases()} - later
    bugs = submissions.load_frozen(ROOT)["traincheck"].developed_on
    assert set(bugs) == ran | set(development.load(ROOT).bugs)
    assert len(ran) == 10
