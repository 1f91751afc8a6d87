"""The figures of names, statements and assertions are what a person counts."""

import pytest
from support.modules import load

readability = load("benchmarks/readability.py")


def measures(folder, text):
    (folder / "package").mkdir()
    (folder / "package" / "module.py").write_text(text)
    return readability.measure(folder, "package")


def test_a_name_is_vague_wherever_a_function_binds_it(tmp_path):
    text = "def found(cases, each):\n    for one in cases:\n        kept = [it for it in one]\n"
    vague = measures(tmp_path, text).vague
    assert sorted(vague) == ["each", "found", "it", "kept", "one"]


def test_a_name_that_only_begins_like_a_vague_one_is_not(tmp_path):
    text = "def kept_records(beside_it):\n    official = beside_it\n"
    assert not measures(tmp_path, text).vague


def test_the_share_is_of_all_bindings(tmp_path):
    text = "def load(path):\n    text = path\n    found = text\n"
    assert measures(tmp_path, text).vague_share == 25


@pytest.mark.parametrize(
    "text, counts",
    [
        ("x = [y for y in z]\n", (1, 0)),
        ("x = [y for y in [a for a in b]]\n", (2, 1)),
    ],
)
def test_a_comprehension_within_another_is_counted(tmp_path, text, counts):
    counted = measures(tmp_path, text)
    assert (counted.comprehensions, counted.nested_comprehensions) == counts


def test_a_conditional_within_another_is_counted(tmp_path):
    counted = measures(tmp_path, "x = 1 if a else 2 if b else 3\n")
    assert counted.conditionals == 2
    assert counted.chained_conditionals == 1


def test_docstrings_are_no_statements_of_a_function(tmp_path):
    counted = measures(tmp_path, 'def f():\n    """Text."""\n    return 1\n')
    assert counted.statements == 1


def test_a_joined_assertion_is_counted_once_a_test(tmp_path):
    joined = "def test_a():\n    assert x and y\n    assert y and z\n"
    single = "def test_b():\n    assert x or y\n    assert y\n"
    counted = measures(tmp_path, joined + single)
    assert counted.tests == 2
    assert counted.compound_tests == 1


def test_classes_of_one_name_are_listed(tmp_path):
    for package in ("runner", "plots"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "module.py").write_text("class Job:\n    pass\n")
    assert list(readability.shared_class_names(tmp_path)) == ["Job"]


def test_a_folder_that_is_not_there_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        readability.main(["nowhere", "--root", str(tmp_path)])
    assert ended.value.code == 2
    assert "nowhere: is no folder" in capsys.readouterr().err
