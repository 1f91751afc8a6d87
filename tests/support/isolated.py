"""A part of a test in which programs are isolated in one way."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from runner.sandbox.isolation import VARIABLE, isolation


@contextmanager
def isolated_by(kind: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs of this process, and of those that it starts, are isolated by this kind."""
    monkeypatch.setenv(VARIABLE, kind)
    isolation.cache_clear()
    yield
    isolation.cache_clear()
