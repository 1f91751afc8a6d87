"""The launcher and the sanitizer, loaded into the process of the user: the hooks in torch are put
in once, and each watching that follows uses them.
"""

from __future__ import annotations

import difflib
import gc
import linecache
import os
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.watching.in_process import places
from evaluation.watching.in_process.start import hide_from_warnings

# The launcher's name as a package, which __main__.py of it gives.
LAUNCHER = "trainbugs_launcher"
CELL = "In [{}]"
# Below such folders lies what others have written, also where it is of another environment.
INSTALLED = ("/site-packages/", "/dist-packages/")


class Engine:
    """What watches in this process. There is one, made at the first watching."""

    def __init__(self) -> None:
        load = runpy.run_path(str(places.launcher() / "__main__.py"))["load"]
        self._sessions, self._optimizers = load("session"), load("optimizers")
        self._joining = load("joining")
        self._recorder = _recorder_class(load("report").Recorder)
        self._sanitizer = self._sessions.load(str(places.sanitizer() / "monitor.py"))
        self._session: Any = None
        self.active = False
        hide_from_warnings()

    def start(self, settings: Mapping[str, Any]) -> Any:
        """Begin to watch; returns the recorder, which keeps what is seen."""
        self._refuse_unknown(settings["ignore"])
        recorder = self._recorder()
        settings_now = self._sanitizer.SETTINGS
        settings_now.clear()
        settings_now.update(settings)
        if self._session is None:
            self._session = self._sessions.begin(self._sanitizer, recorder, self._wants)
        else:
            self._session.start(self._sanitizer, recorder)
        self.active = True
        return recorder

    @property
    def names(self) -> list[str]:
        """The names of all invariants."""
        return [invariant.NAME for invariant in self._sanitizer.ALL]

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        """Raise ValueError for a name that no invariant has."""
        known = self.names
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known)
                hint = f"there are {', '.join(known)}"
                if near:
                    hint = f"did you mean {' or '.join(near)}?"
                raise ValueError(f"there is no invariant {name!r}; {hint}")

    def adopt(self, optimizers: Sequence[Any], modules: Sequence[Any]) -> None:
        """Watch optimizers and modules that were made before."""
        self._optimizers.adopt(self._session, optimizers, modules)

    def stop(self) -> None:
        """Tell the sanitizer that the training has ended, and watch no more."""
        session = self._session
        session.end()
        self._joining.join(session)
        if session.teller.monitor is not None:
            session.teller.monitor.close()
        session.stop()
        self._sanitizer.hooks.LISTENER.listen(None, None)
        self.active = False

    def _wants(self, *moments: str) -> bool:
        """Whether any invariant looks at one of the moments: a later watching may ignore others."""
        invariants = self._sanitizer.ALL
        return any(hasattr(invariant, moment) for invariant in invariants for moment in moments)


def is_watched_from_outside() -> bool:
    """Whether this process runs under `trainbugs watch`, which says what it sees itself."""
    return LAUNCHER in sys.modules and _ENGINE is None


_ENGINE: Engine | None = None


def engine() -> Engine:
    """The engine of this process; raises ImportError where torch is not installed."""
    global _ENGINE
    if _ENGINE is None:
        _ENGINE = Engine()
    return _ENGINE


def live_objects() -> tuple[list[Any], list[Any]]:
    """The optimizers and the modules that are alive."""
    import torch

    optimizers, modules = [], []
    # Not by isinstance: that asks the object for its class, and some begin to work when asked.
    for thing in gc.get_objects():
        kind = type(thing)
        if issubclass(kind, torch.optim.Optimizer):
            # A wrapper around an optimizer may be one by name.
            optimizers += [thing] if "param_groups" in vars(thing) else []
        elif issubclass(kind, torch.nn.Module):
            modules.append(thing)
    return optimizers, modules


def _recorder_class(base: type[Any]) -> type[Any]:
    """A recorder for a process that no script was named for: a script, a test or a notebook."""

    class ProcessRecorder(base):  # type: ignore[misc]
        foreign_paths: tuple[str, ...]

        def __init__(self) -> None:
            main = getattr(sys.modules.get("__main__"), "__file__", None) or "notebook"
            super().__init__(main, os.devnull, str(places.sanitizer() / "monitor.py"))
            self.foreign_paths = (*self.foreign_paths, *_own_paths())

        def here(self) -> tuple[str | None, int | None]:
            """File and line of the innermost frame that is neither ours nor an installed one's."""
            frame = sys._getframe(1)
            while frame:
                path = frame.f_code.co_filename
                if not self._is_foreign(path):
                    return shown_place(path), frame.f_lineno
                frame = frame.f_back  # type: ignore[assignment]
            return None, None

        def _is_foreign(self, path: str) -> bool:
            is_made_up = path.startswith("<") and not path.startswith("<ipython")
            is_installed = any(name in path for name in INSTALLED)
            return is_made_up or is_installed or path.startswith(self.foreign_paths)

    return ProcessRecorder


def _own_paths() -> Iterator[str]:
    """How the file names of our own frames begin."""
    yield f"{places.HERE.parent}{os.sep}"
    yield f"{places.launcher()}{os.sep}"
    yield f"{places.sanitizer()}{os.sep}"


def shown_place(path: str) -> str:
    """The name of a file as it is told: from the working directory if it is below that;
    that of a notebook's cell is its number.
    """
    cell = _cell_number(path)
    if cell is not None:
        name = CELL.format(cell)
        # A comment in its line is looked for by this name.
        entry = (0, None, linecache.getlines(path), name)
        linecache.cache[str(Path(name).absolute())] = entry
        return name
    absolute = os.path.realpath(path)
    working = os.path.realpath(Path.cwd()) + os.sep
    return absolute[len(working) :] if absolute.startswith(working) else absolute


def _cell_number(path: str) -> int | None:
    """The number of the cell that IPython compiled under this file name; None for any other."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return numbers.get(path)
