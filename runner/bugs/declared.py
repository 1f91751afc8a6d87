"""What a bug declares of itself beside its labels: whose code is at fault,
and how real its harm is.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from runner.bugs.taxonomy import CodeAtFault, HarmKind, SourceRead, Split
from runner.field_types import ConfigPart, Text

OURS = "ours"
# Parameters that belong to the runner: nobody chooses them for a bug.
RUNNER_PARAMETERS = ("seed", "device", "output")
Origins = Mapping[Text, Annotated[str, Meta(pattern=r"^(source|ours|ours; source: .+)$(?!\n)")]]


class Harm(ConfigPart, frozen=True):
    """What the fault does to a user's training, and who made it as large as it is here."""

    kind: Annotated[HarmKind, Meta(description="See docs/taxonomy.md.")]
    choices: Annotated[
        Text,
        Meta(description="The choices of yours that the harm depends on, in a few sentences."),
    ]
    length: Annotated[
        Text | None,
        Meta(
            description=(
                "The parameter that says how long training takes: expected/horizon.csv has runs "
                "with twice its value. Absent where a run is as long as the report's, or nothing "
                "is worse but time and memory."
            )
        ),
    ] = None
    late: Annotated[
        bool, Meta(description="True where the harm is gone in training of twice the length.")
    ] = False


class Declared(ConfigPart, frozen=True):
    """The declared facts of a bug; docs/taxonomy.md defines the entries of the closed lists."""

    harm: Harm
    code_at_fault: Annotated[CodeAtFault, Meta(description="Whose code runs the fault.")]
    state_upstream: Annotated[
        str,
        Meta(
            pattern=r"^(fixed in .+|open|documented|by design|unknown)$(?!\n)",
            description=(
                "What became of the report: `fixed in ` and the release or the change, or one of "
                "the others."
            ),
        ),
    ]
    source_read: Annotated[
        SourceRead, Meta(description="How much of the report the author could read.")
    ]
    split: Annotated[
        Split, Meta(description="Whether detectors of this project were developed on the bug.")
    ]
    family: Annotated[
        Text | None,
        Meta(description="The name that bugs of one fault in several dresses share."),
    ] = None

    @property
    def entries(self) -> Mapping[str, str]:
        """The entry of each closed list, by the names of `taxonomy.DECLARED`."""
        return {
            "harm": self.harm.kind,
            "code_at_fault": self.code_at_fault,
            "state_upstream": self.state,
            "source_read": self.source_read,
            "split": self.split,
        }

    @property
    def state(self) -> str:
        """The entry of the closed list: `fixed` for `fixed in 2.4.0`."""
        return "fixed" if self.state_upstream.startswith("fixed in") else self.state_upstream
