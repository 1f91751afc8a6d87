"""Runtimes of many environments: one that cannot be built ends its own runs, and no others."""

from pathlib import Path

from runner.environments import spec
from runner.environments.runtime import Runtime, RuntimeFinder, unbuilt
from runner.errors import UnbuiltError
from runner.progress.lines import Progress

# So many failures without a success are no matter of one environment: there is no network, say.
GIVE_UP = 3


class LenientRuntimes:
    """Finds the runtimes of so many environments; one that cannot be built is broken, and tried
    once.
    """

    def __init__(
        self, finder: RuntimeFinder, root: Path, progress: Progress, environments: int
    ) -> None:
        self._finder = finder
        self._root = root
        self._progress = progress
        self._give_up = min(GIVE_UP, environments)
        self._found_one = False
        self._unbuilt: dict[str, Runtime] = {}

    def get(self, name: str) -> Runtime:
        """The runtime of an environment, broken where it cannot be built. Raises UnbuiltError after
        GIVE_UP failures in a row from the start, or where all of them fail.
        """
        if name in self._unbuilt:
            return self._unbuilt[name]
        try:
            runtime = self._finder.get(name)
        except UnbuiltError as error:
            self._unbuilt[name] = unbuilt(spec.load(self._root, name), str(error))
            if not self._found_one and len(self._unbuilt) >= self._give_up:
                raise
            self._progress.note(f"{error}; its runs are INVALID, the others go on")
            return self._unbuilt[name]
        self._found_one = True
        return runtime
