"""The identity of a runtime: what records say about where a program ran."""

import platform
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from runner.field_types import Name
from runner.sandbox.access import Isolation
from runner.sandbox.env import THREADS

if TYPE_CHECKING:
    from runner.environments.runtime import Runtime

Version = Annotated[str, Meta(pattern=r"^[A-Za-z0-9.+!_-]{1,80}$(?!\n)")]
Device = Annotated[str, Meta(pattern=r"^(cpu|cuda(:\d{1,4})?)$(?!\n)")]


class RuntimeIdentity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a program ran. In the file of a record these fields stand among the record's own.

    `pinned` is False where the interpreter was not built from the hashed lock. `isolated`: whether
    the program could write to its own folder only, `isolation`: what kept it to that. `trusted`:
    others than the user and root could change the environment, and the user trusted them. The last
    three are None in records from before them.
    """

    environment: Name
    pinned: bool
    torch: Version | None
    device: Device
    machine: str
    threads: int
    isolated: bool | None = None
    isolation: Isolation | None = None
    trusted: bool | None = None

    @property
    def kind_of_device(self) -> str:
        """The kind of device on which it ran: `cpu` or `cuda`."""
        return self.device.split(":")[0]


def identify(runtime: "Runtime") -> RuntimeIdentity:
    """The identity of a runtime of this machine, on which a program runs now."""
    # Loaded here: `list` and other commands that only read records need no sandbox.
    from runner.sandbox.isolation import isolation

    return RuntimeIdentity(
        environment=runtime.environment,
        pinned=runtime.pinned,
        torch=runtime.torch,
        device=runtime.device,
        machine=machine(),
        threads=THREADS,
        isolated=isolation() != "none",
        isolation=isolation(),
        trusted=runtime.trusted or None,
    )


@cache
def machine() -> str:
    """System, architecture and, where Linux names them, the processor, its family and model.

    Virtual machines give several processors one name; they round differently.
    """
    try:
        processor = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        processor = ""
    facts = dict(re.findall(r"^(model name|cpu family|model)\s*:\s*(.+)$", processor, re.MULTILINE))
    parts = [f"{platform.system()} {platform.machine()}"]
    if "model name" in facts:
        parts.append(facts["model name"])
    if "cpu family" in facts and "model" in facts:
        parts.append(f"family {facts['cpu family']} model {facts['model']}")
    return ", ".join(parts)
