"""What is said of the whole release, and how the benchmark is cited."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from runner.bugs.catalog import Catalog
from runner.results.expected import expected_days

# Where nobody says where it is published.
URN = "urn:trainbugs"
# That of CITATION.cff, without the name.
TITLE = "a reproducible benchmark of silent training bugs in PyTorch programs"
AUTHORS = "the trainbugs authors"


@dataclass(frozen=True)
class About:
    """Title, version, day of publication, address and authors of a release."""

    title: str
    version: str
    day: str
    url: str
    authors: Sequence[str]


def about(catalog: Catalog, url: str = URN) -> About:
    """The release of a catalogue. Its day is that of the newest record:
    the same records make the same release.
    """
    bugs, _ = catalog.readable()
    days = [day for bug in bugs for day in expected_days(bug)]
    day = max(days, default="1970-01-01")
    return About(TITLE[0].upper() + TITLE[1:], version("trainbugs"), day, url, [AUTHORS])


def bibtex(release: About) -> str:
    """The benchmark as an entry of BibTeX."""
    fields = {
        "title": f"trainbugs: {TITLE}",
        "author": f"{{{AUTHORS}}}",
        "version": release.version,
        "year": release.day[:4],
        **({} if release.url == URN else {"url": release.url}),
    }
    return (
        "@software{trainbugs,\n"
        + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        + "}\n"
    )
