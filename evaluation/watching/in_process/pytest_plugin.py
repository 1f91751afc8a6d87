"""A plugin for pytest: `pytest --trainbugs` watches what each test trains, and a test whose
training breaks an invariant fails.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

PROPERTY = "trainbugs"
BROKEN, KEPT, NOTHING = "broken", "kept", "nothing watched"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --trainbugs, and what it ignores."""
    group = parser.getgroup("trainbugs", "silent training bugs")
    group.addoption(
        "--trainbugs", action="store_true", help="watch what each test trains for silent bugs"
    )
    group.addoption(
        "--trainbugs-ignore",
        action="append",
        default=[],
        metavar="INVARIANT",
        help="leave one out; several times for more",
    )
    group.addoption(
        "--trainbugs-light", action="store_true", help="leave out what copies or computes much"
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Watch the call of a test; models that its fixtures have made are seen, too."""
    if not item.config.getoption("--trainbugs"):
        yield
        return
    watched = _begin(item.config)
    outcome: Any = yield
    watched.stop(raises=False)
    if watched.report is None:
        return
    report = watched.audible
    answer = BROKEN if report.has_error else KEPT
    if report.is_empty:
        answer = NOTHING
    item.user_properties.append((PROPERTY, answer))
    text = watched.text()
    if answer == BROKEN and outcome.excinfo is None:
        outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
    elif answer != NOTHING:
        item.add_report_section("call", PROPERTY, text)


def _begin(config: pytest.Config) -> Any:
    """A watching that has begun; it keeps its text to itself.

    Ends pytest where an invariant that is to be ignored has another name.
    """
    # torch takes seconds to import: only where something is watched.
    from evaluation.watching.in_process.engine import live_objects
    from evaluation.watching.in_process.watching import Watching

    watched = Watching(
        ignore=config.getoption("--trainbugs-ignore"),
        light=config.getoption("--trainbugs-light"),
        stream=io.StringIO(),
        silencer="--trainbugs-ignore {}",
    )
    try:
        watched.start(*live_objects())
    except ValueError as error:
        pytest.exit(f"trainbugs: {error}", pytest.ExitCode.USAGE_ERROR)
    return watched


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests were watched, and how many broke an invariant."""
    if not terminalreporter.config.getoption("--trainbugs"):
        return
    reports = [report for group in terminalreporter.stats.values() for report in group]
    answers = Counter(
        dict(report.user_properties).get(PROPERTY)
        for report in reports
        if getattr(report, "when", None) == "call"
    )
    watched = answers[BROKEN] + answers[KEPT]
    terminalreporter.write_line(
        f"trainbugs: tests that train: {watched}, and break an invariant: {answers[BROKEN]}; "
        f"tests that train nothing: {answers[NOTHING]}"
    )
