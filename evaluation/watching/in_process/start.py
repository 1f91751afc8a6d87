"""Starts the kit's launcher, and takes its frames and the sanitizer's out of what Python tells of
the user's program: out of tracebacks, and out of the places of warnings.

`python start.py OUT.json ... SCRIPT.py`, with the arguments of the launcher.
"""

from __future__ import annotations

import runpy
import sys
import warnings
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

HERE = Path(__file__).resolve().parent
KIT = HERE.parents[1] / "kit"
# As `places` has them, which is not imported: this file also runs as a script.
SANITIZERS = (
    f"{HERE.parent}/sanitizer/",
    f"{HERE.parents[2]}/detectors/sanitizer/",
    f"{HERE.parents[2]}/trainbugs/detectors/sanitizer/",
)
# How the file names of frames begin that are not the program's; in the small wheel the launcher
# and the sanitizer lie beside this folder.
OURS = (f"{KIT}/", f"{HERE}/", f"{HERE.parent}/launcher/", *SANITIZERS)
FOREIGN = (*OURS, f"{HERE.parent}/__main__.py", __file__, "<frozen runpy>", runpy.__file__)


def main() -> None:
    """Run the launcher; an exception that ends the program shows the traceback of the program."""
    # Python has put the folder of this file there, whose modules could stand in for the script's.
    sys.path[0] = str(KIT)
    load = runpy.run_path(str(KIT / "launcher" / "__main__.py"))["load"]
    hide_from_warnings()
    try:
        load("command").main()
    except BaseException:
        hide_from_tracebacks()
        raise


def hide_from_tracebacks() -> None:
    """Show an exception that ends the program from now on as the program's own."""
    # The program may have set a hook of its own.
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        clean(error)
        shown(kind, error, error.__traceback__)

    sys.excepthook = show


def clean(error: BaseException) -> None:
    """Take the foreign frames out of the tracebacks of an exception, of its causes and contexts."""
    waiting: list[BaseException | None] = [error]
    cleaned = set()
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in cleaned:
            continue
        cleaned.add(id(current))
        current.__traceback__ = without_foreign_frames(current.__traceback__)
        waiting += [current.__cause__, current.__context__]


def without_foreign_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback of the program's frames alone."""
    frames = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(FOREIGN):
            frames.append(trace)
        trace = trace.tb_next
    result = None
    for frame in reversed(frames):
        result = TracebackType(result, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return result


def hide_from_warnings() -> None:
    """Let a warning name the place that it names without the launcher and the sanitizer.

    Python shows a warning once for each place, so that it also comes as often.
    """
    bare = warnings.warn

    def warn(
        message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any
    ) -> None:
        level = 1 + stacklevel + foreign_frames(sys._getframe(1), stacklevel)
        bare(message, category, level, source, **options)

    # Dynamo cannot look into it, as it cannot into the bare one, and would warn of that.
    warn._torchdynamo_disable = True  # type: ignore[attr-defined]
    warnings.warn = warn


def foreign_frames(frame: FrameType | None, stacklevel: int) -> int:
    """How many frames of ours lie between a frame and its caller of this level."""
    count = 0
    while frame is not None and stacklevel > 0:
        is_foreign = frame.f_code.co_filename.startswith(FOREIGN)
        count += is_foreign
        stacklevel -= not is_foreign
        frame = frame.f_back
    return count


if __name__ == "__main__":
    main()
