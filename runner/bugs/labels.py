"""The labels of a bug: its classification, its provenance, and the versions of a package that have
it.
"""

from typing import Annotated

from msgspec import Meta

from runner.bugs.taxonomy import Cause, Effect, Location, Realism, Stage
from runner.field_types import ConfigPart, Day, Text


class Versions(ConfigPart, frozen=True):
    """Versions of a package."""

    package: Annotated[Text, Meta(description="Distribution name.")]
    versions: Annotated[tuple[str, ...], Meta(description="Versions in which it was measured.")]
    change: Annotated[str | None, Meta(description="Link to the change that mended it.")] = None


class Labels(ConfigPart, frozen=True):
    """Classification. docs/taxonomy.md defines the entries of the closed lists;
    `validate` asks for one of each.
    """

    location: Annotated[Location, Meta(description="Where the fault is, in the report.")]
    root_cause: Annotated[Text, Meta(description="The mistake, in a few words.")]
    symptom: Annotated[Text, Meta(description="What can be seen, in a few words.")]
    cause: Annotated[Cause | None, Meta(description="The kind of `root_cause`.")] = None
    effect: Annotated[Effect | None, Meta(description="The kind of `symptom`.")] = None
    stage: Annotated[
        Stage | None, Meta(description="The part of training in which the fault acts.")
    ] = None


class Reader(ConfigPart, frozen=True):
    """Somebody beside the author who held the bug against its source."""

    date: Annotated[Day, Meta(description="The day.")]
    readable: Annotated[
        tuple[Text, ...],
        Meta(min_length=1, description="What could be read: thread, commit, wheel, ..."),
    ]
    facts: Annotated[tuple[Text, ...], Meta(min_length=1, description="What was held against it.")]


class Origin(ConfigPart, frozen=True):
    """Something that the scripts of a bug are derived from."""

    link: Annotated[str, Meta(pattern="^https?://", description="Where it is.")]
    author: Annotated[Text, Meta(description="A person or a project.")]
    licence: Annotated[
        str,
        Meta(
            pattern=r"^(none stated|[A-Za-z0-9.+-]+)$(?!\n)",
            description="SPDX identifier, or `none stated`.",
        ),
    ]


class Provenance(ConfigPart, frozen=True):
    """What the scripts of a bug, or of one case, are derived from, and how far they are from it."""

    derived_from: Annotated[
        tuple[Origin, ...], Meta(min_length=1, description="Reports and programs.")
    ]
    realism: Annotated[
        Realism, Meta(description="How near the program is to the report's; see docs/taxonomy.md.")
    ]
    differs: Annotated[
        Text, Meta(description="In one sentence what differs: model, data, library, version.")
    ]
    read_by: Annotated[
        tuple[Reader, ...],
        Meta(
            description="Readers of the source, the author aside; one for every bug, two for some."
        ),
    ] = ()
