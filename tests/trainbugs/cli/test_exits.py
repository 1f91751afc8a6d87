"""Exit statuses: of verdicts, of problems, and where nobody reads to the end."""

import pytest
from support.toy import toy_config

from trainbugs.cli.exits import (
    FAILURE,
    INVALID,
    SUCCESS,
    ReaderLeftError,
    invalid_if,
    reporting,
    verdict_status,
)


def test_a_problem_is_invalid():
    assert invalid_if([]) == SUCCESS
    assert invalid_if(["a file"]) == INVALID


def test_a_reader_who_goes_away_leaves_the_status_as_it_is():
    with pytest.raises(ReaderLeftError) as caught, reporting(FAILURE):
        raise BrokenPipeError
    assert caught.value.status == FAILURE
    with reporting(FAILURE):
        pass


def test_the_worst_verdict_decides(toy):
    good = toy.run(seeds=(0,))
    assert verdict_status([good]) == SUCCESS
    config = toy_config()
    config["cases"]["only"]["expectations"][0]["value"] = -1
    toy.configure(cases=config["cases"])
    failed = toy.run(seeds=(0,))
    assert verdict_status([good, failed]) == FAILURE
    toy.write("fixed.py", "raise SystemExit(3)\n")
    crashed = toy.run(seeds=(0,))
    assert verdict_status([good, failed, crashed]) == INVALID
    assert verdict_status([]) == SUCCESS
