"""What is not there is said before anything runs: a script, an environment."""

import pytest

from runner.errors import UsageError


def test_a_script_that_is_not_there_is_said_before_anything_runs(toy):
    (toy.directory / "fixed.py").unlink()
    with pytest.raises(UsageError, match=r"Toy-1/only/fixed: there is no fixed.py in .*; add it"):
        toy.run()
    assert not list(toy.results.glob("Toy-1/*"))


def test_an_unknown_environment_of_a_bug_is_said_with_its_place(toy):
    config = toy.directory / "config.json"
    text = config.read_text()
    config.write_text(text.replace('"toy"', '"nowhere"'))
    assert config.read_text() != text
    with pytest.raises(UsageError, match=r"^Toy-1/only/buggy: there is no environment 'nowhere'"):
        toy.run(python=None)
