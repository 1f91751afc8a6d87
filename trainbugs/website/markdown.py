"""Markdown to HTML: links and pictures of the repository lead to their places on the site;
raw HTML is text.
"""

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from trainbugs.website.code import block
from trainbugs.website.links import Links

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Heading:
    """A heading of a page: its level, its anchor and its text."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Text:
    """A rendered page; `title` is that of its first heading, `lead` its first paragraph without
    marks. `html` has both as well.
    """

    title: str
    html: str
    headings: tuple[Heading, ...]
    words: str
    lead: str = ""


def render(text: str, source: str, links: Links, page: str, without_title: bool = False) -> Text:
    """Render a page of the repository for a place on the site;
    `without_title` leaves its first heading out.
    """
    parser = _parser()
    tokens = parser.parse(text)
    headings = tuple(_headings(tokens))
    title = next((heading.text for heading in headings if heading.level == 1), source)
    if without_title and [token.tag for token in tokens[:1]] == ["h1"]:
        tokens = tokens[3:]
    _place(tokens, source, links, page)
    words = " ".join(token.content for token in tokens if token.type in ("inline", "fence"))
    html = parser.renderer.render(tokens, parser.options, {})
    return Text(title, html, headings, words, _lead(tokens))


def render_line(text: str, source: str, links: Links, page: str) -> str:
    """Render one line of text: links and code, no paragraph around them."""
    parser = _parser()
    tokens = parser.parseInline(text)
    _place(tokens, source, links, page)
    return str(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "highlight": _highlight}).enable("table")
    for kind in ("html_block", "html_inline"):
        parser.add_render_rule(kind, _raw)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _highlight(text: str, language: str, attributes: str) -> str:
    return block(text, language)


def _raw(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """A comment says nothing to a reader; any other HTML is shown as it is written."""
    content = tokens[index].content
    return "" if COMMENT.fullmatch(content.strip()) else escape(content)


def _table_open(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    caption = escape(str(tokens[index].meta.get("caption", "Table")))
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{caption}, table">'
        f'<table><caption class="unseen">{caption}</caption>\n'
    )


def _table_close(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def plain(token: Token) -> str:
    """The text of an inline token, without marks."""
    return "".join(map(_plain, token.children or ()))


def _plain(child: Token) -> str:
    if child.type == "softbreak":
        return " "
    return child.content if child.type in ("text", "code_inline") else ""


def _lead(tokens: Sequence[Token]) -> str:
    """The first paragraph that has words: one may be a picture alone."""
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "paragraph_open" and plain(inline).strip():
            return plain(inline)
    return ""


def _headings(tokens: Sequence[Token]) -> list[Heading]:
    """The headings, which get the anchors that GitHub gives them."""
    counts: Counter[str] = Counter()
    headings = []
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type != "heading_open":
            continue
        text = plain(inline)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        unique = f"{anchor}-{counts[anchor]}" if counts[anchor] else anchor
        counts[anchor] += 1
        token.attrSet("id", unique)
        headings.append(Heading(int(token.tag[1]), unique, text))
    return headings


def _place(tokens: Sequence[Token], source: str, links: Links, page: str) -> None:
    """Set links, pictures and captions; a link that leads nowhere becomes plain text."""
    caption = "Table"
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            caption = plain(tokens[index + 1])
        elif token.type == "table_open":
            token.meta["caption"] = caption
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "inline":
            token.children = _children(token.children or [], source, links, page)


def _children(children: Sequence[Token], source: str, links: Links, page: str) -> list[Token]:
    """The tokens of a line with their links set."""
    tokens: list[Token] = []
    # For each link that is open, whether it leads nowhere.
    dead: list[bool] = []
    for child in children:
        if child.type == "link_open":
            target = links.resolve(str(child.attrGet("href") or ""), source, page)
            dead.append(target is None)
            if target is None:
                continue
            child.attrSet("href", target)
        elif child.type == "link_close" and dead.pop():
            continue
        elif child.type == "image":
            child = _image(child, source, links, page)
        tokens.append(child)
    return tokens


def _image(token: Token, source: str, links: Links, page: str) -> Token:
    link = str(token.attrGet("src") or "")
    # A picture from elsewhere would be an external request.
    file = None if ":" in link else links.picture(link, source)
    target = links.resolve(link, source, page) if file else None
    if file is None or target is None:
        return Token("text", "", 0, content=f"[picture: {plain(token)}]")
    token.attrSet("src", target)
    for name, value in picture(file).items():
        token.attrSet(name, value)
    return token


def picture(path: Path) -> Mapping[str, str]:
    """The attributes of a picture: it is loaded when it is near,
    and its size is known before (PNG only).
    """
    with path.open("rb") as file:
        start = file.read(24)
    attributes = {"loading": "lazy", "decoding": "async"}
    if start.startswith(PNG) and len(start) == 24:
        width, height = struct.unpack(">II", start[16:24])
        attributes |= {"width": str(width), "height": str(height)}
    return attributes
