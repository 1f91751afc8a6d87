"""Studies on the site: the summary of each, its question, and what its figures show."""

from dataclasses import dataclass
from pathlib import Path

# What the figures of a study show, by the ends of their names.
FIGURES = {
    "grid": "mean gain of the buggy program at each point and setting",
    "shares": "shares of the labels",
    "best": "each program at its best setting",
    "factors": "what the gain depends on",
}


@dataclass(frozen=True)
class Summary:
    """The page of a study: its place, its title, the bug, and the question that it asks."""

    source: str
    place: str
    bug: str
    title: str
    question: str


def figure_text(study: str, figure: Path) -> str:
    """What a figure of a study shows, from its name."""
    kind = figure.stem.removeprefix(f"{study}_")
    text = FIGURES.get(kind) or kind.replace("by_", "grid by ").replace("_", " ")
    return f"{study}: {text}"


def question(summary: str) -> str:
    """The question that a study asks: the first paragraph of its summary that ends with a question
    mark.
    """
    paragraphs = [paragraph.strip() for paragraph in summary.split("\n\n")]
    return next((paragraph for paragraph in paragraphs if paragraph.endswith("?")), "")
