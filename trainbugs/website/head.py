"""What the head of a page says of it: a description, and on the web its address and a picture."""

from dataclasses import dataclass
from urllib.parse import quote

from trainbugs.website.links import Links, copied
from trainbugs.website.templating import DESCRIPTION

# The picture of a page that has none of its own: the rates of all detectors.
FIGURE = "detectors/expected/rates.png"
# Search engines and messengers show so many characters of a description, and cut the others off.
MAX_CHARACTERS = 160
# What stands in pages that are made of no text of the repository.
DESCRIPTIONS = {
    "index.html": "Silent training bugs of PyTorch programs: each with a buggy program, its fixed "
    "twin, a pinned environment and written expectations.",
    "leaderboard.html": "Leaderboard: which detectors find silent training bugs, and which correct "
    "programs they accuse.",
    "rules.html": "Each rule of each detector on all silent training bugs, and on the bugs of one "
    "location, with filters.",
    "matrix.html": "Which detector finds which silent training bug: each harmful case by each "
    "detector.",
    "tracks.html": "Scores of reviews and repairs: reviewers judge programs with silent training "
    "bugs, repairers mend them.",
    "studies.html": "Impact studies: how far the harm of a silent training bug reaches, over a "
    "grid of parameters.",
    "downloads.html": "Downloads: the dataset of silent training bugs, tables of cases and scores, "
    "records of detectors, an archive of each bug.",
}


@dataclass(frozen=True)
class Heads:
    """Makes the heads of pages; `url` is where the site will be, empty where nobody has said it."""

    links: Links
    url: str

    def head(self, place: str, description: str, figure: str | None) -> dict[str, str]:
        """What base.html shows of a page; `figure` is a file of the repository."""
        described = shortened(description or DESCRIPTIONS.get(place, DESCRIPTION))
        head = {"description": described}
        if self.url:
            head |= {"address": self._absolute(place), "image": self._image(figure or FIGURE)}
        return head

    def _image(self, source: str) -> str:
        """The address of a figure, whose copy is on the site; empty where there is none."""
        if not copied(self.links.root / source, self.links.root):
            return ""
        self.links.files.add(source)
        return self._absolute(f"files/{source}")

    def _absolute(self, place: str) -> str:
        """The address of a place on the site."""
        return f"{self.url.rstrip('/')}/{'' if place == 'index.html' else quote(place)}"


def shortened(text: str) -> str:
    """A description in one line, cut behind a word where it is too long."""
    line = " ".join(text.split())
    if len(line) <= MAX_CHARACTERS:
        return line
    words, *_ = line[: MAX_CHARACTERS - 1].rpartition(" ")
    return f"{(words or line[: MAX_CHARACTERS - 2]).rstrip(',;:. ')} …"
