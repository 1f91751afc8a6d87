"""Silent training bugs of PyTorch programs, reproduced for real.

The Python interface, for notebooks, is documented in `trainbugs.api` and shown in docs/python.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.watching.in_process.watching import watch, watching
    from trainbugs.api import (
        against,
        bugs,
        comparisons,
        load,
        outcomes,
        plot,
        plot_against,
        plot_detectors,
        records,
        run,
        scores,
    )

    __version__: str

WATCHING = ("watch", "watching")
__all__ = [
    "against", "bugs", "comparisons", "load", "outcomes", "plot", "plot_against", "plot_detectors",
    "records", "run", "scores", "watch", "watching",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A function of the interface, or the version, when it is first used:
    importing the package loads nothing else.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("trainbugs")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from trainbugs.shadowing import shadowed

    problem = shadowed()
    if problem:
        raise ImportError(problem)
    module = "evaluation.watching.in_process.watching" if name in WATCHING else "trainbugs.api"
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
