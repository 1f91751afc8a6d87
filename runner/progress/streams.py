"""Text streams that show what they are given: nothing in it moves a cursor, hides, or turns the
direction of reading.

What is printed holds words of strangers: names of files, texts of bugs, messages of detectors, the
command line itself.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast
from unicodedata import category

# Control and format characters, halves of characters, and the ends of lines that Unicode has.
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# All of these are among the others.
BEYOND_ASCII = re.compile("[^ -~]")
BEYOND_TEXT = re.compile("[^ -~\n\t]")
# A word longer than the path of any file that one has typed.
LONG_WORD = re.compile(r"(\S{500})\S{100,}")


def one_line(text: str) -> str:
    """The text as one line that can be printed: each character that no reader sees is escaped, line
    breaks too.
    """
    return text if text.isprintable() else BEYOND_ASCII.sub(_escaped, text)


def message(text: str) -> str:
    """The text of an error as one line; of a very long word, which may be all that somebody typed,
    the beginning.
    """
    return LONG_WORD.sub(r"\1…", one_line(text))


def lines(text: str) -> str:
    """Like `one_line`, for a text of many lines, in which tabs may be."""
    return text if text.isprintable() else BEYOND_TEXT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return (
        character.encode("unicode_escape").decode("ascii")
        if category(character) in HIDDEN
        else character
    )


class Escaping:
    """A text stream that escapes what is written to it; all else is done by the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write the text as `lines` shows it; returns the number of characters of the text
        itself.
        """
        self.stream.write(lines(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def escaping(stream: TextIO) -> TextIO:
    """The stream, escaping what is written to it."""
    return cast(TextIO, Escaping(stream))


def raw(stream: TextIO) -> TextIO:
    """The stream itself, for colours and for movements of the cursor that are the program's."""
    return stream.stream if isinstance(stream, Escaping) else stream


@contextmanager
def escaped_output() -> Iterator[None]:
    """Standard output and standard error escape what is written to them, until the end of the
    context.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = escaping(sys.stdout), escaping(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
