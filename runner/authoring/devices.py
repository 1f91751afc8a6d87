"""Do the scripts of a bug keep to one device? They run as if there were a GPU, which needs none."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from runner.bugs.bug import Target
from runner.errors import ProcessError, UsageError
from runner.execution.launch import launch
from runner.execution.run import Run
from runner.files import untrusted
from runner.files.locks import working_folder
from runner.files.structs import MismatchError, as_struct
from runner.sandbox.streams import open_streams
from runner.session.session import Session

PACKAGE = Path(__file__).with_name("pretended_gpu")
# A program that has not ended then is stopped, and what it did until then counts.
SECONDS = 30
STARTING_S = 120
MAX_BYTES = 10_000
ERRORS = ("device error", "crashed")

Status = Literal["passed", "device error", "not checkable", "crashed"]
Text = Annotated[str, Meta(max_length=1000)]


class DeviceAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """What pretended_gpu says of a script."""

    status: Status
    reason: Text
    steps: Annotated[int, Meta(ge=0)]
    whole: bool


class DeviceCheck(Struct, frozen=True):
    """Whether a program keeps to one device, and why; after how many steps of its optimizers, and
    whether it came to its end.
    """

    case: str
    variant: str
    status: Status
    reason: str
    steps: int = 0
    whole: bool = False


def check_devices(session: Session, targets: Sequence[Target]) -> Iterator[DeviceCheck]:
    """Run each program of the targets with its first seed, on a GPU that is none.

    The session is of the CPU. Environments are built. A program that cannot be checked is said to
    be `not checkable`, which is no `passed`.
    """
    for target in targets:
        try:
            runs = session.plan(target, target.case.program.seeds[:1])
        except UsageError as error:
            for variant in target.variants:
                yield DeviceCheck(target.case.id, variant, "not checkable", str(error))
            continue
        for run in runs:
            yield check_run(run)


def check_run(run: Run) -> DeviceCheck:
    """What one run does with devices."""
    answer = _impossible(run) or _ask(run)
    return DeviceCheck(
        run.case.id, run.variant, answer.status, answer.reason, answer.steps, answer.whole
    )


def _impossible(run: Run) -> DeviceAnswer | None:
    if run.runtime.broken:
        return _unknown(f"its environment is broken: {run.runtime.broken}")
    if run.case.program.processes > 1:
        return _unknown("it starts processes of its own")
    return None


def _ask(run: Run) -> DeviceAnswer:
    script = run.case.program.variants[run.variant].script.name
    argv = [str(run.runtime.python_path), "-m", PACKAGE.name, script, "config.json", str(SECONDS)]
    with working_folder() as scratch, open_streams(scratch) as streams:
        room = scratch / "room"
        folder = room / "run"
        folder.mkdir(parents=True)
        for name, text in run.bare.scripts.items():
            (folder / name).write_bytes(text)
        shutil.copytree(
            PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
        )
        parameters = {**run.parameters, "device": "cuda"}
        (folder / "config.json").write_text(json.dumps({"parameters": parameters}))
        try:
            launch(argv, folder, run, timeout_s=SECONDS + STARTING_S, streams=streams, room=room)
            answer = untrusted.read_json(folder / "device.json", MAX_BYTES, folder)
            return as_struct(answer, DeviceAnswer)
        except (ProcessError, untrusted.UnsafeError, OSError, MismatchError) as error:
            return _unknown(f"it said nothing: {error}")


def _unknown(reason: str) -> DeviceAnswer:
    return DeviceAnswer("not checkable", reason[:1000], 0, False)
