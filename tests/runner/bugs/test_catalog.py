"""config.json becomes frozen objects, or one line that names the file, the key, the value and what
was expected.
"""

import json
import re
import shlex
import shutil

import pytest
from support.toy import toy_config

from evaluation.model import CONTROL
from runner.bugs.catalog import load_bug
from runner.bugs.config import RESERVED_IDS
from runner.errors import CatalogError, UsageError
from runner.verdicts.verdict import unjudged


def test_loads_what_the_file_says(toy):
    bug = toy.bug
    case = bug.cases["only"]
    assert (bug.id, bug.site.line, case.id, case.truth.iteration, case.program.seeds) == (
        "Toy-1",
        9,
        "Toy-1/only",
        2,
        (0, 1),
    )
    assert case.program.parameters["num_epoch"] == 3
    assert case.program.variants["fixed"].script.name == "fixed.py"
    assert case.oracle.expectations[1].minus == "buggy"


def test_case_overrides_parameters_seeds_timeout_and_environment(toy):
    config = toy_config()
    config["cases"]["only"] |= {"parameters": {"num_epoch": 9}, "seeds": [7], "timeout_s": 1}
    config["cases"]["only"]["variants"]["fixed"]["environment"] = "newer"
    toy.configure(cases=config["cases"])
    case = toy.bug.cases["only"]
    assert (case.program.parameters["num_epoch"], case.program.seeds, case.program.timeout_s) == (
        9,
        (7,),
        1,
    )
    assert (
        case.program.variants["buggy"].environment,
        case.program.variants["fixed"].environment,
    ) == ("toy", "newer")


def test_a_case_may_have_a_provenance_of_its_own(toy):
    assert toy.bug.cases["only"].provenance == toy.bug.provenance
    assert toy.bug.provenance.realism == "original"
    cases = toy_config()["cases"]
    cases["only"]["provenance"] = toy_config()["provenance"] | {"realism": "adapted"}
    toy.configure(cases=cases)
    assert (toy.bug.cases["only"].provenance.realism, toy.bug.provenance.realism) == (
        "adapted",
        "original",
    )


def without_classes():
    """The toy configuration as it was before there were closed lists and provenance."""
    config = toy_config()
    del config["provenance"]
    config["labels"] = {
        name: config["labels"][name] for name in ("location", "root_cause", "symptom")
    }
    return config


def test_classes_and_provenance_are_optional(toy):
    toy.write("config.json", json.dumps(without_classes()))
    bug = toy.bug
    assert bug.provenance is bug.cases["only"].provenance is None
    assert (bug.labels.cause, bug.labels.effect, bug.labels.stage) == (None, None, None)


def broken(path, value):
    """The toy configuration with the value at a path of keys replaced, or removed where it is
    None.
    """
    config = toy_config()
    *parents, last = path
    place = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


@pytest.mark.parametrize(
    "path, value, words",
    [
        (["colour"], "red", ["colour"]),
        (["id"], None, ["the key 'id' is missing"]),
        (["timeout_s"], -1, ["timeout_s", "-1"]),
        (["seeds"], [0, 0], ["seeds"]),
        (["labels", "location"], "moon", ["labels.location", "'moon'", "user code"]),
        (["labels", "cause"], "moon", ["labels.cause", "'moon'", "missing API call"]),
        (["labels", "effect"], "slow", ["labels.effect", "'slow'", "wasted work"]),
        (["labels", "stage"], "test", ["labels.stage", "'test'", "evaluation"]),
        (["provenance", "realism"], "real", ["provenance.realism", "'real'", "original"]),
        (["provenance", "derived_from"], [], ["provenance.derived_from"]),
        (
            ["provenance", "derived_from", 0, "licence"],
            "free for all",
            ["derived_from[0].licence", "'free for all'"],
        ),
        (["provenance", "derived_from", 0, "link"], "a book", ["derived_from[0].link", "'a book'"]),
        (["provenance", "differs"], None, ["provenance", "the key 'differs' is missing"]),
        (
            ["cases", "only", "expectations", 0, "op"],
            "<",
            ["cases.only.expectations[0].op", "'<'", "<="],
        ),
        (["cases", "only", "expectations", 0, "op"], "close", ["expectations[0]", "tolerance"]),
        (["cases", "only", "expectations", 0, "reduce"], "sum", ["'sum'", "largest_drop"]),
        (
            ["cases", "only", "variants", "buggy", "script"],
            "../other/buggy.py",
            ["variants.buggy.script"],
        ),
        (["parameters", "num_epoch"], [1], ["parameters.num_epoch", "[1]"]),
        (["cases", "../x"], {}, ["cases"]),
        (["parameters", "output"], "../metrics", ["parameters.output", "'../metrics'"]),
        (["parameters", "output"], "/tmp/metrics", ["parameters.output"]),
        (["parameters", "output"], "config", ["parameters.output"]),
        (["cases", "only", "data"], ["/etc/passwd"], ["cases.only.data[0]"]),
        (["schema"], 2, ["schema", "is 2, expected 1"]),
        (["id"], "detectors", ["id: 'detectors' is taken"]),
        (["id"], "control", ["id: 'control' is taken"]),
        (["cases", "only", "records"], 0, ["cases.only.records: is 0"]),
        (
            ["cases", "only", "variants", "buggy", "records"],
            "6",
            ["variants.buggy.records: is '6'"],
        ),
    ],
)
def test_malformed_key_is_named(toy, path, value, words):
    toy.write("config.json", json.dumps(broken(path, value)))
    with pytest.raises(CatalogError) as caught:
        load_bug(toy.directory)
    message = str(caught.value)
    assert "config.json" in message
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"schema": 1,\n "id"}', "line 2, column 6"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "expected an object"),
        ('{"timeout_s": NaN}', "NaN is no number"),
        (" " * 1_000_001, "larger than"),
    ],
)
def test_file_that_is_no_configuration(toy, text, words):
    toy.write("config.json", text)
    with pytest.raises(CatalogError, match=words):
        load_bug(toy.directory)


def test_bytes_that_are_no_text(toy):
    (toy.directory / "config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogError, match="not JSON"):
        load_bug(toy.directory)


def test_id_must_be_the_name_of_the_directory(toy):
    toy.configure(id="Toy-2")
    with pytest.raises(
        CatalogError, match="id is 'Toy-2', expected the name of its directory, 'Toy-1'"
    ):
        load_bug(toy.directory)


def test_select(toy):
    ids = [(target.case.id, target.variants) for target in toy.catalog.select(["Toy-1/only/fixed"])]
    assert ids == [("Toy-1/only", ("fixed",))]
    assert toy.catalog.select([str(toy.directory)])[0].bug.id == "Toy-1"


@pytest.mark.parametrize(
    "names",
    [
        ["Toy-1/only/buggy", "Toy-1/only/fixed"],
        ["Toy-1/only/fixed", "Toy-1/only/buggy"],
        ["Toy-1", "Toy-1/only/fixed"],
        ["Toy-1/only/fixed", "Toy-1"],
        ["Toy-1", "Toy-1"],
    ],
)
def test_all_that_is_named_of_a_case_is_one_target(toy, names):
    """So that a case whose variants are named one by one gets its verdict."""
    assert [target.variants for target in toy.catalog.select(names)] == [("buggy", "fixed")]


def test_two_directories_with_one_id_are_not_selected_together(toy, tmp_path):
    shutil.copytree(toy.directory, tmp_path / "copy")
    with pytest.raises(UsageError, match="copy have the same ID; give one of them another"):
        toy.catalog.select(["Toy-1", str(tmp_path / "copy")])


def test_what_is_outside_of_the_catalogue(toy, tmp_path):
    shutil.copytree(toy.directory, tmp_path / "copy")
    assert toy.catalog.outside(toy.bug) is None
    assert toy.catalog.outside(load_bug(tmp_path / "copy")) == tmp_path / "copy"


def test_names_of_other_folders_in_a_results_folder_are_taken():
    assert set(RESERVED_IDS) == {CONTROL, "detectors", "rewritten", "slurm"}


@pytest.mark.parametrize(
    "name, words",
    [
        ("toy-2", "no bug 'toy-2' \\(did you mean Toy-1\\?\\)"),
        ("Nothing-99999", "no bug"),
        ("my/own/bug", "no bug 'my', and 'my/own/bug' is no bug directory"),
        ("bugs/Toy-2", "bugs/Toy-2: no such folder, or none with a config.json"),
        ("toy-2/only", "no bug 'toy-2' \\(did you mean Toy-1\\?\\)"),
        ("Toy-1/other", "no case 'other'; expected one of only"),
        ("Toy-1/only/best", "no variant 'best'; expected one of buggy, fixed"),
        ("Toy-1/only/buggy/x", "too many parts"),
    ],
)
def test_unknown_names(toy, name, words, monkeypatch):
    monkeypatch.chdir(toy.catalog.root)
    with pytest.raises(UsageError, match=words):
        toy.catalog.select([name])


def test_a_case_is_no_whole_bug(toy):
    with pytest.raises(UsageError, match="'Toy-1/only' is no bug; expected a whole bug: Toy-1$"):
        toy.catalog.bug("Toy-1/only")


def test_a_bug_without_a_config_is_no_unknown_bug(toy):
    (toy.directory / "config.json").unlink()
    with pytest.raises(UsageError, match="Toy-1 holds no config.json: add it"):
        toy.catalog.select(["Toy-1"])


@pytest.mark.parametrize(
    "indices, variant", [((), "buggy or fixed"), ((0,), "fixed"), ((1,), None)]
)
def test_a_verdict_needs_expectations_about_both_variants(toy, indices, variant):
    """Otherwise a program that does nothing wrong could be REPRODUCED.

    The bug loads: its numbers come from runs.
    """
    config = toy_config()
    config["cases"]["only"]["expectations"] = [
        config["cases"]["only"]["expectations"][index] for index in indices
    ]
    toy.configure(cases=config["cases"])
    case = toy.bug.cases["only"]
    if variant is None:  # it compares both
        assert case.oracle.expectations[0].minus == "buggy"
        assert unjudged(case) is None
        return
    assert unjudged(case) == f"no expectation is about variant {variant}"
    with pytest.raises(
        UsageError, match=f"about variant {variant}; `trainbugs run Toy-1 --record-only` gives"
    ):
        toy.run()
    assert list(toy.root.rglob("*.json")) == [toy.directory / "config.json"], "nothing was run"


def test_the_word_for_a_bug_is_understood_by_commands(toy, tmp_path, monkeypatch):
    copy = tmp_path / "my own" / "copy"
    shutil.copytree(toy.directory, copy)
    bug = load_bug(copy)
    assert toy.catalog.shell_name(toy.bug) == "Toy-1"
    for folder, word in (
        (tmp_path, "'./my own/copy'"),
        (copy, f"'{copy}'"),
        (toy.root, f"'{copy}'"),
    ):
        monkeypatch.chdir(folder)
        assert toy.catalog.shell_name(bug) == word
        assert toy.catalog.select(shlex.split(word))[0].bug.directory == copy


def test_the_current_folder_is_a_bug(toy, monkeypatch):
    monkeypatch.chdir(toy.directory)
    assert toy.catalog.select(["."])[0].bug.directory == toy.directory
    assert toy.catalog.bug(".").id == "Toy-1"


def test_the_catalogue_comes_before_a_folder_of_the_same_name(toy, tmp_path, monkeypatch):
    shutil.copytree(toy.directory, tmp_path / "here" / "Toy-1")
    monkeypatch.chdir(tmp_path / "here")
    assert toy.catalog.select(["Toy-1"])[0].bug.directory == toy.directory
    assert toy.catalog.select(["./Toy-1/only"])[0].bug.directory == tmp_path / "here" / "Toy-1"
    assert toy.catalog.select([f"{tmp_path}/here/Toy-1/only/fixed"])[0].variants == ("fixed",)
    with pytest.raises(UsageError, match="here is no bug directory: it holds no config.json"):
        toy.catalog.select([str(tmp_path / "here")])
    (tmp_path / "here" / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="no bug 'Nothing'"):
        toy.catalog.select(["Nothing"])


def test_a_malformed_bug_does_not_block_another(toy):
    other = toy.root / "bugs" / "Broken-1"
    other.mkdir()
    (other / "config.json").write_text("{")
    assert toy.catalog.ids() == ("Broken-1", "Toy-1")
    assert toy.catalog.bug("Toy-1").title == "A toy"


@pytest.mark.parametrize("name", ["./nowhere", "../nowhere", "/no/where", "./no/where"])
def test_a_path_that_leads_nowhere_is_no_name_of_a_bug(toy, name):
    for find in (toy.catalog.bug, lambda name: toy.catalog.select([name])):
        with pytest.raises(UsageError, match=f"^{re.escape(name)}: no such folder"):
            find(name)
