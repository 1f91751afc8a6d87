"""The figures of a case: curves in panels, or a heat map."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from runner.expectations.series import Series
from runner.field_types import ConfigPart, Text


class Line(Series, frozen=True, kw_only=True):
    """One line of a panel."""

    label: Annotated[Text, Meta(description="Text in the legend.")]
    dashed: bool = False


class Panel(ConfigPart, frozen=True):
    """One set of axes."""

    label: Annotated[Text, Meta(description="Label of the y axis.")]
    lines: Annotated[tuple[Line, ...], Meta(min_length=1, description="What is drawn.")]
    scale: Annotated[
        Literal["linear", "log", "symlog"], Meta(description="Scale of the y axis.")
    ] = "linear"


class Heatmap(ConfigPart, frozen=True):
    """A figure with one cell a record."""

    rows: Annotated[
        tuple[Text, ...],
        Meta(min_length=1, description="Metrics whose values together name a row."),
    ]
    columns: Annotated[Text, Meta(description="The metric whose values name the columns.")]
    value: Annotated[
        Text,
        Meta(
            description=(
                "The metric that is drawn, on a logarithmic scale; null where there is none."
            )
        ),
    ]
    label: Annotated[Text, Meta(description="What the value is.")]
    words: Annotated[Text, Meta(description="The metric with a word for the cell.")]
    quiet: Annotated[
        tuple[str, ...],
        Meta(description="Words that need not be written, because the colour says the same."),
    ] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that the figure reads."""
        return (*self.rows, self.columns, self.value, self.words)


class Plot(Struct, frozen=True):
    """The figure of a case: panels of curves over `x`, or a heat map instead of them."""

    x: str = "step"
    panels: tuple[Panel, ...] = ()
    heatmap: Heatmap | None = None
