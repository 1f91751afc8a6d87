"""Cells of CSV files, as spreadsheets take them: a text of a stranger must not become a formula
that is executed.

As OWASP says, such a text gets an apostrophe before it:
https://owasp.org/www-community/attacks/CSV_Injection.
"""

import re
from typing import Any

# What spreadsheets take for the begin of a formula, also after what is put before it here. A line
# break may follow.
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20].", re.DOTALL)


def cell(value: Any) -> Any:
    """The value for a cell: a text that would be a formula gets an apostrophe; numbers, as texts
    too, stay.
    """
    if isinstance(value, str) and FORMULA.match(value) and not _is_number(value):
        return f"'{value}"
    return value


def text_of(cell: str) -> str:
    """The text that `cell` made this one of."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
