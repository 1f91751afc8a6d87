"""Highlighted code: blocks, and scripts by line."""

from functools import cache
from html import escape

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Highlighting longer texts would take seconds.
MAX_CHARACTERS = 200_000


def block(text: str, language: str = "") -> str:
    """A block of code as HTML; in no known language it is plain text."""
    lexer = _lexer(language) if len(text) <= MAX_CHARACTERS else None
    inner = highlight(text, lexer, _formatter()) if lexer else escape(text)
    return f'<pre tabindex="0" class="code"><code>{inner}</code></pre>\n'


def lines(text: str, language: str = "python") -> list[str]:
    """The lines of a script as HTML, as many as it has: no element goes over the end of a line."""
    plain = text.splitlines()
    lexer = _lexer(language) if len(text) <= MAX_CHARACTERS else None
    highlighted = highlight(text, lexer, _formatter()).split("\n") if lexer else []
    highlighted = highlighted[: len(plain)]
    if len(highlighted) == len(plain):
        return highlighted
    return [escape(line) for line in plain]


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        # Lines keep their numbers: nothing is stripped.
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


@cache
def _formatter() -> "HtmlFormatter[str]":
    return HtmlFormatter(nowrap=True)
