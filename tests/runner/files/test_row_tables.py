"""Tables of rows that are written again and again."""

from typing import NamedTuple

import pytest

from runner.files.row_tables import read_rows, write_rows


class Row(NamedTuple):
    """A row of the tests."""

    name: str
    value: str


ROWS = [Row("b", "1"), Row("a", 'two, "2"')]


def test_rows_come_back_in_their_order(tmp_path):
    path = tmp_path / "table.csv"
    assert read_rows(path, Row) == []
    write_rows(path, Row._fields, ROWS)
    assert read_rows(path, Row) == ROWS
    assert path.read_text().splitlines()[0] == "name,value"


def test_a_stop_in_the_middle_leaves_the_old_table(tmp_path):
    def rows():
        yield ROWS[0]
        raise KeyboardInterrupt

    path = tmp_path / "table.csv"
    write_rows(path, Row._fields, ROWS)
    with pytest.raises(KeyboardInterrupt):
        write_rows(path, Row._fields, rows())
    assert read_rows(path, Row) == ROWS
    assert list(tmp_path.iterdir()) == [path]
