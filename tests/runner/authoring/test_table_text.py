"""Tables in Markdown: which lines are some, and what stays when a number changes."""

import pytest

from runner.authoring.table_text import find_tables, plain, with_cells, with_words

TEXT = """\
Before.

| seeds | buggy | fixed |
|---|:---:|---|
| loss | **0.1 0.2** | 0.3 0.4 |
| `a\\|b` |  | - |

```
| no | table |
|---|---|
| in | code |
```
| no border | below |
"""


def test_tables_are_found_and_code_is_not():
    (table,) = find_tables(TEXT)
    assert table.line == 3
    assert table.end == 6
    assert table.header == "| seeds | buggy | fixed |"
    assert table.headings == ("seeds", "buggy", "fixed")
    assert table.rows == (("loss", "**0.1 0.2**", "0.3 0.4"), ("`a\\|b`", "", "-"))
    assert TEXT.splitlines()[table.row_line(0) - 1].startswith("| loss")


@pytest.mark.parametrize(
    "cell, words, changed",
    [
        ("0.1 0.2", ["0.3", "0.4"], "0.3 0.4"),
        ("**0.1 0.2**", ["0.3", "0.4"], "**0.3 0.4**"),
        ("1 1 **1**", ["1", "1", "2"], "1 1 **2**"),
        ("**7, 8, 9**", ["7", "8", "9"], "**7 8 9**"),
        ("**0**", ["1", "2"], "**1 2**"),
        ("1 **2**", ["1", "2", "3"], "1 2 3"),
        ("", ["1"], "1"),
    ],
)
def test_what_is_bold_stays_bold(cell, words, changed):
    assert with_words(cell, words) == changed


def test_bold_signs_and_blanks_are_no_part_of_the_text():
    assert plain("1  1 **1 2**") == "1 1 1 2"


def test_a_cell_changes_and_nothing_else():
    changed = with_cells(TEXT, {(5, 2): "0.5 0.6", (6, 1): "1"})
    assert changed == TEXT.replace("0.3 0.4", "0.5 0.6").replace("b` |  |", "b` | 1 |")
