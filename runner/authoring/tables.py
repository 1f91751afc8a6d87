"""Tables of a bug's README beside the committed records: where they differ, and the README with
the numbers of the records.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

from runner.authoring.table_sources import FILE, RowSource, Source, TableSource, load, merge
from runner.authoring.table_text import MarkdownTable, find_tables, plain, with_cells, with_words
from runner.authoring.table_values import CellNumbers, CommittedRecords, compute
from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.bugs.program import UPSTREAM, VARIANTS
from runner.errors import CatalogError, MeasureError, ResultsError, UsageError
from runner.files import untrusted
from runner.plurals import counted

README = "README.md"


@dataclass(frozen=True)
class CellComparison:
    """A cell of a README, and what the records say: no numbers where the cell is a text.

    `place` has the number of its line, from 1, and of its column, from 0. `problem` says why the
    records give no numbers.
    """

    row: str
    column: str
    place: tuple[int, int]
    stated: str
    source: Source
    numbers: CellNumbers | None = None
    problem: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the records give other words."""
        return self.numbers is not None and plain(self.stated) != " ".join(self.numbers.words)

    @property
    def name(self) -> str:
        """The cell for messages."""
        return f"row {self.row!r}, column {self.column!r}"


@dataclass(frozen=True)
class TableComparison:
    """A table of a README, and its cells. `problem` says why none of them can be computed."""

    table: MarkdownTable
    cells: tuple[CellComparison, ...] = ()
    problem: str | None = None

    @property
    def name(self) -> str:
        """The table for messages."""
        return f"{README}, line {self.table.line}"

    @property
    def failure(self) -> str | None:
        """Why cells cannot be computed: all of them, or the first one and how many others;
        None where all can be.
        """
        if self.problem:
            return f"{self.name}: {self.problem}"
        return self._summary(
            [f"{cell.name}: {cell.problem}" for cell in self.cells if cell.problem]
        )

    @property
    def difference(self) -> str | None:
        """The first cell that differs from the records, and how many others do;
        None where none does.
        """
        return self._summary([_describe(cell) for cell in self.cells if cell.differs])

    def _summary(self, problems: Sequence[str]) -> str | None:
        if not problems:
            return None
        others = len(problems) - 1
        more = f" ({counted(others, 'further cell')} of the table)" if others else ""
        return f"{self.name}, {problems[0]}{more}"


def compare_tables(bug: Bug) -> list[TableComparison]:
    """All tables of a bug's README beside its records; raises CatalogError, ResultsError."""
    written = load(bug)
    remaining = list(written.tables) if written else []
    records = CommittedRecords(bug)
    comparisons = []
    for table in find_tables(readme_text(bug)):
        source = next((source for source in remaining if source.header == table.header), None)
        if source is None:
            problem = f"{FILE} does not name the table {table.header!r}"
            comparisons.append(TableComparison(table, problem=problem))
            continue
        remaining.remove(source)
        comparisons.append(_compare_table(table, source, records))
    if remaining:
        raise CatalogError(
            f"{FILE}: {README} has no further table with the header {remaining[0].header!r}"
        )
    return comparisons


def with_recorded_numbers(text: str, comparisons: Iterable[TableComparison]) -> str:
    """The text of a README with the numbers of the records in its tables."""
    cells = {}
    for cell in chain.from_iterable(comparison.cells for comparison in comparisons):
        if cell.numbers and cell.differs:
            cells[cell.place] = with_words(cell.stated, cell.numbers.words)
    return with_cells(text, cells)


def readme_text(bug: Bug) -> str:
    """The text of a bug's README; raises CatalogError where it cannot be read."""
    path = bug.directory / README
    try:
        return untrusted.read_text(path, untrusted.MAX_TEXT_BYTES, bug.directory)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error


def check_tables(bug: Bug, root: Path) -> Iterator[str]:
    """The tables of the README have the numbers of the records, and tables.json names them all."""
    if not (bug.directory / README).is_file():
        return  # Another check says so.
    try:
        comparisons = compare_tables(bug)
    except (CatalogError, ResultsError) as error:
        yield str(error)
        return
    for comparison in comparisons:
        if comparison.failure:
            yield comparison.failure
        if comparison.difference:
            command = f"trainbugs tables {Catalog(root).shell_name(bug)} --write"
            yield f"{comparison.difference}; `{command}` mends it"


def _compare_table(
    table: MarkdownTable, source: TableSource, records: CommittedRecords
) -> TableComparison:
    columns = _columns(table, source)
    problem = _misfit(table, source, columns)
    if problem:
        return TableComparison(table, problem=problem)
    rows = source.rows or [RowSource(row=cells[0]) for cells in table.rows]
    cells = []
    for row_index, row in enumerate(rows):
        for column_index, column in enumerate(columns, 1):
            heading = table.headings[column_index]
            cell_source = merge([source, column, row, row.cells.get(heading, Source())])
            cell = CellComparison(
                row=row.row,
                column=heading,
                place=(table.row_line(row_index), column_index),
                stated=table.rows[row_index][column_index],
                source=cell_source,
            )
            cells.append(_compute(cell, records))
    return TableComparison(table, tuple(cells))


def _columns(table: MarkdownTable, source: TableSource) -> Sequence[Source]:
    """The sources of the columns, the first one aside;
    a heading that is a variant stands for it.
    """
    if source.columns is not None:
        return source.columns
    variants = {UPSTREAM, *VARIANTS}
    return [
        Source(variant=heading if heading in variants else None)  # type: ignore[arg-type]
        for heading in table.headings[1:]
    ]


def _misfit(table: MarkdownTable, source: TableSource, columns: Sequence[Source]) -> str | None:
    """How the rows and columns that tables.json names differ from the table's."""
    if len(columns) != len(table.headings) - 1:
        return (
            f"{FILE} names {len(columns)} columns after the first, the table has "
            f"{len(table.headings) - 1}"
        )
    if any(len(row) != len(table.headings) for row in table.rows):
        return "a row has more or fewer cells than the first line"
    if not source.rows and source.text:
        return None
    for row, cells in zip_longest(source.rows, table.rows):
        name = repr(row.row) if row else "no further row"
        label = repr(cells[0]) if cells else "no further row"
        if name != label:
            return f"{FILE} names {name} where the table has {label}"
    for row in source.rows:
        unknown = [heading for heading in row.cells if heading not in table.headings[1:]]
        if unknown:
            return f"{FILE}: row {row.row!r}: there is no column {unknown[0]!r}"
    return None


def _compute(cell: CellComparison, records: CommittedRecords) -> CellComparison:
    if cell.source.text:
        return cell
    try:
        return replace(cell, numbers=compute(cell.source, records))
    except (MeasureError, UsageError) as error:
        return replace(cell, problem=str(error))


def _describe(cell: CellComparison) -> str:
    """A cell that differs, with more digits of its values than the table shows."""
    numbers = cell.numbers or CellNumbers((), ())
    precise = " ".join(
        f"{value:.6g}" if isinstance(value, float) else str(value) for value in numbers.values
    )
    stated = plain(cell.stated) or "blank"
    return f"{cell.name}: is {stated}, records give {precise} ({' '.join(numbers.words)})"
