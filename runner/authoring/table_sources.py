"""The format of a bug's tables.json: which records the numbers of the tables in its README are
made of.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from runner.bugs.bug import Bug
from runner.bugs.catalog import check, read_json
from runner.bugs.config import CaseName, Place, Seeds, Written
from runner.expectations.reductions import ReductionName
from runner.expectations.series import Metric, Operand, Where
from runner.field_types import Name, Text, VariantName

FILE = "tables.json"
# A numerator of 1 over a whole number: 1/272.
FRACTION = "1/n"
FormatSpec = Annotated[str, Meta(pattern=r"^(\.\d[efg]|1/n)$(?!\n)")]
Range = Annotated[tuple[float, float], Meta(description="The lowest and the highest value.")]


class Extreme(Written, frozen=True):
    """The record in which a metric is highest or lowest; the first one, where several are."""

    metric: Metric
    reduce: Literal["max", "min"]


class Source(Written, frozen=True, kw_only=True):
    """What cells hold. A key of a cell wins over its row's, that over its column's,
    that over the table's.

    `where` and `between` are joined. The values of the seeds stand beside each other in a cell.
    """

    case: Annotated[CaseName | None, Meta(description="Default: the only case.")] = None
    study: Annotated[
        Name | None,
        Meta(
            description=(
                "A study of the bug: all its trainings are one series, with the parameters, the "
                "setting and the seed as further fields."
            )
        ),
    ] = None
    environment: Annotated[
        Place | None, Meta(description="Records of the map of versions, from this environment.")
    ] = None
    variant: Annotated[
        Literal["buggy", "fixed", "upstream"] | None,
        Meta(description="Whose records; in a column with one of these headings it is known."),
    ] = None
    metric: Metric | None = None
    where: Where = {}
    between: Annotated[
        Mapping[Text, Range], Meta(description="Only records whose fields lie in these ranges.")
    ] = {}
    at: Annotated[
        Extreme | None, Meta(description="Only the record in which a metric is extreme.")
    ] = None
    minus: Annotated[
        VariantName | Operand | None, Meta(description="As in an expectation of config.json.")
    ] = None
    over: Annotated[
        VariantName | Operand | None, Meta(description="As in an expectation of config.json.")
    ] = None
    index: Annotated[
        int | None, Meta(description="The metric is a list: take this element, from 0.")
    ] = None
    reduce: Annotated[
        Literal["all"] | ReductionName | None,
        Meta(description="How one number is made of a series, or all in order; default: `last`."),
    ] = None
    seeds: Annotated[
        Seeds | Literal["alike"] | None,
        Meta(
            description=(
                "Default: those of the case. `alike`: they are, and the number stands there once."
            )
        ),
    ] = None
    format: Annotated[
        FormatSpec | None,
        Meta(
            description=(
                "As Python's, `.3f`; 1/n is a fraction. A cell with whole numbers alone needs none."
            )
        ),
    ] = None
    also: Annotated[
        tuple["Source", ...],
        Meta(description="What gives the same words: the cell says them of these, too."),
    ] = ()
    text: Annotated[
        Literal["why.py", "names", "words", "blank"] | None,
        Meta(
            description=(
                "No record gives the cell: why.py prints it, it lists names, says something in "
                "words, or is blank."
            )
        ),
    ] = None


class RowSource(Source, frozen=True, kw_only=True):
    """A row of a table."""

    row: Annotated[Text, Meta(description="Its first cell, word for word.")]
    cells: Annotated[
        Mapping[Text, Source], Meta(description="Heading of a column → what differs in its cell.")
    ] = {}


class TableSource(Source, frozen=True, kw_only=True):
    """A table."""

    header: Annotated[Text, Meta(description="Its first line, word for word.")]
    columns: Annotated[
        tuple[Source, ...] | None,
        Meta(
            description=(
                "All columns after the first one; may be left out where their headings are "
                "variants."
            )
        ),
    ] = None
    rows: Annotated[tuple[RowSource, ...], Meta(description="All of them, in order.")] = ()


class Tables(Written, frozen=True):
    """tables.json of a bug directory: all tables of its README."""

    schema: Annotated[Literal[1], Meta(description="Version of this schema.")]
    tables: Annotated[tuple[TableSource, ...], Meta(min_length=1, description="In their order.")]


def load(bug: Bug) -> Tables | None:
    """The bug's tables.json; None where there is none. Raises CatalogError for one that is
    malformed.
    """
    path = bug.directory / FILE
    if not path.exists():
        return None
    return check(read_json(path, bug.directory), Tables, path)


def merge(sources: Sequence[Source]) -> Source:
    """One source made of these, from the widest to the narrowest: keys of a narrower one win."""
    values: dict[str, Any] = {}
    for source in sources:
        for name in Source.__struct_fields__:
            value = getattr(source, name)
            if isinstance(value, Mapping):
                values[name] = {**values.get(name, {}), **value}
            elif value not in (None, ()):
                values[name] = value
    return Source(**values)
