"""How is something made once, though many ask for it at the same time? The first one makes it, the others wait."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Values by key. What was raised in making one is raised again for everybody who asks for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Hashable, Future[T]] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of that key, made by `make` if nobody has begun to make it."""
        with self._lock:
            first = key not in self._made
            future = self._made.setdefault(key, Future())
        if first:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()
