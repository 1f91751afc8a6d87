"""Pages of a site, checked as text: well formed, and every link and picture leads to something."""

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote

VOID = {"meta", "link", "img", "br", "hr", "input"}
# Elements that a browser loads something for.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
# Elements whose text is no prose: what looks like Markdown there is meant so.
VERBATIM = {"code", "pre", "script", "style"}
# A tag, a link, a reference or a mark of code that no renderer has taken.
SOURCE = re.compile(r"<img|\]\(http|\]\[[\w-]+\]|`[^`]{1,60}`")


@dataclass
class Page(HTMLParser):
    """What is wrong with a page, its anchors, its links, and what it loads."""

    text: str
    problems: list[str] = field(default_factory=list)
    anchors: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    prose: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.feed(self.text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]
        self.problems += [
            f"id {name!r} is there {count} times"
            for name, count in self.anchors.items()
            if count > 1
        ]
        steps = zip([0, *self.headings], self.headings, strict=False)
        self.problems += [
            f"h{after} follows h{before}" for before, after in steps if after > before + 1
        ]

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags[tag] += 1
        counts = Counter(name for name, _ in attrs)
        self.problems += [f"<{tag}> has {name} twice" for name in counts if counts[name] > 1]
        self.anchors.update([values["id"]] if "id" in values else [])
        self.links += [values["href"]] if tag == "a" else []
        # A page's own address is a link, and nothing that a browser loads.
        is_loaded = LOADED.get(tag) in values and values.get("rel") != "canonical"
        self.loads += [values[LOADED[tag]]] if is_loaded else []
        self.headings += [int(tag[1])] if tag in ("h1", "h2", "h3", "h4", "h5", "h6") else []
        if tag == "img" and not values.get("alt"):
            self.problems.append(f"a picture has no text: {values.get('src')}")
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        if self.open[-1:] != [tag]:
            self.problems.append(f"</{tag}> ends {self.open[-1:]}, line {self.getpos()[0]}")
        elif self.open:
            self.open.pop()

    def handle_data(self, data):
        if not VERBATIM & set(self.open):
            self.prose.append(data)

    @property
    def unrendered(self) -> list[str]:
        """What looks like HTML or Markdown in the text that a reader sees, with some around it."""
        text = "".join(self.prose)
        return [text[max(0, hit.start() - 30) : hit.end() + 30] for hit in SOURCE.finditer(text)]


def problems(pages: dict[str, str], files: set[str]) -> list[str]:
    """Everything that is wrong with the pages of a site (HTML by place),
    whose other files are `files`.
    """
    parsed = {place: Page(text) for place, text in pages.items()}
    wrong = []
    for place, page in parsed.items():
        wrong += [f"{place}: {problem}" for problem in page.problems]
        for link in page.loads:
            if ":" in link or link.startswith("//"):
                wrong.append(f"{place}: loads {link}")
        for link in (*page.links, *page.loads):
            if not link.startswith(("http:", "https:", "mailto:")) and (
                problem := _lost(link, place, parsed, files)
            ):
                wrong.append(f"{place}: {link}: {problem}")
    return wrong


def _lost(link: str, place: str, pages: dict[str, Page], files: set[str]) -> str | None:
    path, _, anchor = unquote(link).partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
    if target in pages:
        return (
            f"there is no anchor {anchor}"
            if anchor and anchor not in pages[target].anchors
            else None
        )
    return None if target in files else "there is no such file"
