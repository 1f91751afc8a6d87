"""A case of a bug: its program, what is expected of it, and where its fault is."""

from typing import Annotated

from msgspec import Meta, Struct

from runner.bugs.declared import Harm, Origins
from runner.bugs.figures import Plot
from runner.bugs.labels import Provenance
from runner.bugs.program import CaseProgram
from runner.expectations.expectation import Expectation
from runner.field_types import ConfigPart, Text
from runner.plurals import counted


class Site(ConfigPart, frozen=True):
    """Ground truth: where the fault is."""

    file: Annotated[
        Text, Meta(description="A script of the bug, or a file of the package at fault.")
    ]
    api: Annotated[Text, Meta(description="The API that is misused or broken.")]
    line: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="Line in that file.")
    ] = None
    implicit: Annotated[
        Text | None,
        Meta(
            description=(
                "Why the API is not written near that line: it is missing, an operator, called "
                "elsewhere."
            )
        ),
    ] = None


class Oracle(Struct, frozen=True):
    """What is expected of a case's records; `volatile` names metrics that differ from run to
    run.
    """

    expectations: tuple[Expectation, ...] = ()
    volatile: frozenset[str] = frozenset()


class GroundTruth(Struct, frozen=True):
    """Where the fault is, and the iteration (from 1) in which it first acts:
    detectors are scored on both.
    """

    site: Site
    iteration: int = 1
    why: str = ""


class Case(Struct, frozen=True):
    """One scenario of a bug. The numbers of a case that is not `portable` hold in its own
    environment only.
    """

    bug: str
    name: str
    title: str
    program: CaseProgram
    oracle: Oracle
    truth: GroundTruth
    plot: Plot
    benign: bool = False
    portable: bool = True
    never_run: bool = False
    harm: Harm | None = None
    parameter_origins: Origins = {}
    provenance: Provenance | None = None

    @property
    def id(self) -> str:
        """BUG/CASE."""
        return f"{self.bug}/{self.name}"

    def __repr__(self) -> str:
        seeds = counted(len(self.program.seeds), "seed")
        benign = ", benign" if self.benign else ""
        return f"Case({self.id!r}, {seeds}{benign})"
