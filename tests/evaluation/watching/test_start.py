"""What is kept out of the places of warnings, and of tracebacks."""

import warnings

from support.paths import ROOT

from evaluation.watching.in_process import places, start


def test_the_frames_of_all_that_watches_are_foreign():
    for folder in (places.launcher(), places.sanitizer(), ROOT / "evaluation" / "kit"):
        assert f"{folder}/a.py".startswith(start.FOREIGN)
    assert not f"{ROOT}/docs/watch/dropout.py".startswith(start.FOREIGN)


def test_compiled_functions_pass_over_the_function_that_warns(monkeypatch):
    monkeypatch.setattr(warnings, "warn", warnings.warn)
    start.hide_from_warnings()
    assert vars(warnings.warn)["_torchdynamo_disable"]
