"""The means by which programs are kept to their paths, one after the other, as far as this machine has them."""

from collections.abc import Iterator
from functools import cache

import pytest

from runner.sandbox import landlock
from runner.sandbox.means import means, namespaces_work

POSSIBLE = {"landlock": cache(lambda: landlock.version() > 0), "namespaces": cache(namespaces_work)}


@pytest.fixture(params=POSSIBLE)
def kept_by(request, monkeypatch) -> Iterator[str]:
    """Programs are kept to their paths by this means."""
    if not POSSIBLE[request.param]():
        pytest.skip(f"no {request.param} on this machine")
    if request.param == "namespaces":
        monkeypatch.setattr(landlock, "version", lambda: 0)
    means.cache_clear()
    yield request.param
    means.cache_clear()
