"""The kinds of isolation, one after the other, as far as this machine has them."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from runner.sandbox import landlock
from runner.sandbox.isolation import namespaces_work
from support.isolated import isolated_by

POSSIBLE = {
    "namespaces+landlock": cache(lambda: landlock.version() > 0 and namespaces_work()),
    "namespaces": cache(namespaces_work),
    "landlock": cache(lambda: landlock.version() > 0),
}
EVERYWHERE = "none"


@pytest.fixture(params=POSSIBLE)
def kept_by(request, monkeypatch) -> Iterator[str]:
    """Programs are kept to their paths by this kind of isolation."""
    if not POSSIBLE[request.param]():
        pytest.skip(f"NOT RUN: no {request.param} on this machine")
    with isolated_by(request.param, monkeypatch):
        yield request.param


@pytest.fixture
def possible() -> Callable[[str], None]:
    """Skips the test where this machine does not give that kind of isolation."""

    def check(kind: str) -> None:
        if kind != EVERYWHERE and not POSSIBLE[kind]():
            pytest.skip(f"NOT RUN: no {kind} on this machine")

    return check
