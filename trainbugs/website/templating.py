"""Templates: Jinja2 with everything escaped, and filters for links that start at the page that is
made.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from trainbugs.website.links import Links, relative
from trainbugs.website.markdown import picture, render_line

NAVIGATION = (
    ("index.html", "Bugs"),
    ("leaderboard.html", "Leaderboard"),
    ("studies.html", "Studies"),
    ("docs/index.html", "Docs"),
    ("downloads.html", "Downloads"),
)

# Of a page that says nothing else.
DESCRIPTION = "A benchmark of silent training bugs in PyTorch programs."


class Templates:
    """Renders pages; `common` is what all templates know."""

    def __init__(self, links: Links, common: Mapping[str, Any]) -> None:
        self.links = links
        environment = Environment(
            loader=FunctionLoader(_source),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters |= {
            "here": _link,
            "file": self._file,
            "picture": self._picture,
            "line": self._line,
            "outside": outside,
            "bytes": in_bytes,
            "json": as_json,
        }
        environment.globals |= {
            "navigation": NAVIGATION,
            "single": False,
            "generator": "",
            "css": "",
            "js": "",
            "places": {},
            "version": "",
            "repository": "",
            "description": DESCRIPTION,
            "address": "",
            "image": "",
            **common,
        }
        self.environment = environment

    def render(self, template: str, page: str, section: str, **values: Any) -> str:
        """The HTML of a page, of the part of the site that `section` names."""
        return self.environment.get_template(template).render(page=page, section=section, **values)

    @pass_context
    def _file(self, context: Context, source: str) -> str:
        return self.links.file(source, str(context["page"]))

    @pass_context
    def _picture(self, context: Context, value: tuple[str, str]) -> Markup:
        source, text = value
        attributes = {"src": self.links.file(source, str(context["page"])), "alt": text}
        attributes |= picture(self.links.root / source)
        pairs = [Markup('{}="{}"').format(*item) for item in attributes.items()]
        return Markup("<img {}>").format(Markup(" ").join(pairs))

    @pass_context
    def _line(self, context: Context, text: str, source: str) -> Markup:
        """A line of Markdown that stands in `source`."""
        return Markup(render_line(text, source, self.links, str(context["page"])))


def asset(name: str) -> str:
    """The text of a file of the site: style, script, icon."""
    return (files("trainbugs.website") / "assets" / name).read_text(encoding="utf-8")


def _source(name: str) -> str:
    return (files("trainbugs.website") / "templates" / name).read_text(encoding="utf-8")


@pass_context
def _link(context: Context, place: str) -> str:
    return relative(place, str(context["page"]))


def outside(link: str) -> Markup:
    """A link to another site; what is no web address is text."""
    if not link.startswith(("https://", "http://")):
        return escape(link)
    return Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(link)


def in_bytes(size: int) -> str:
    """A size for a reader, in units of 1000."""
    for unit, factor in (("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def as_json(value: Any) -> Markup:
    """JSON that can stand in a script element: nothing in it ends that element,
    or begins a comment.
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
