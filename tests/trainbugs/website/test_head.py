"""The heads of pages: descriptions, and with an address of the site their own and a picture's."""

import re
from collections import Counter
from html import unescape

import pytest
from support.records import as_pinned
from support.website import Page, problems

from runner.session.promote import promote_runs
from trainbugs.website.build import build
from trainbugs.website.head import DESCRIPTIONS, MAX_CHARACTERS, shortened
from trainbugs.website.templating import DESCRIPTION

URL = "https://example.org/t"


def meta(page: str) -> dict[str, str]:
    """What the head of a page says, by name; `canonical` is its address."""
    pairs = re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)">', page)
    pairs += [("canonical", link) for link in re.findall(r'rel="canonical" href="(.*?)"', page)]
    return {name: unescape(content) for name, content in pairs}


def test_no_two_pages_of_the_real_site_have_the_same_description(real):
    described = {name: meta(page)["description"] for name, page in real.pages.items()}
    counts = Counter(described.values())
    assert {name: text for name, text in described.items() if counts[text] > 1} == {}
    assert DESCRIPTION not in counts
    assert set(DESCRIPTIONS) <= set(described)
    assert {name for name, text in described.items() if len(text) > MAX_CHARACTERS} == set()
    assert all(meta(page)["og:description"] == described[name] for name, page in real.pages.items())


def test_descriptions_are_the_words_of_the_page(real):
    detector = meta(real.pages["detectors/torchfix.html"])["description"]
    assert detector.startswith("torchfix: ")
    records = meta(real.pages["docs/records.html"])["description"]
    assert records.startswith("What the committed records say: Further figures show every case")
    study = meta(real.pages["studies/PyTorch-115607-gaps.html"])["description"]
    assert "How much training is lost" in study


def test_a_long_description_is_cut_behind_a_word():
    words = "word " * 40
    cut = shortened(words)
    assert len(cut) <= MAX_CHARACTERS
    assert re.fullmatch(r"word( word)* …", cut)
    assert shortened("a\n b") == "a b"
    assert shortened("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    assert len(shortened("x" * 200)) == MAX_CHARACTERS


@pytest.fixture
def recorded(toy):
    promote_runs([as_pinned(toy.run())])
    (toy.directory / "expected" / "compare_only.png").write_bytes(b"a picture")
    return toy


def test_without_an_address_a_page_names_none(recorded):
    for page in build(recorded.catalog).pages.values():
        assert not {"canonical", "og:url", "og:image"} & set(meta(page))


@pytest.mark.parametrize("url", [URL, f"{URL}/"])
def test_with_an_address_each_page_names_its_own(recorded, url):
    site = build(recorded.catalog, url=url)
    for name, page in site.pages.items():
        address = f"{URL}/" if name == "index.html" else f"{URL}/{name}"
        assert (meta(page)["canonical"], meta(page)["og:url"]) == (address, address)
    assert problems(site.pages, set(site.files) | set(site.pages)) == []


def test_the_picture_of_a_bug_is_its_own_and_that_of_others_the_rates(recorded):
    figure, rates = "bugs/Toy-1/expected/compare_only.png", "detectors/expected/rates.png"
    pages = build(recorded.catalog, url=URL).pages
    assert "og:image" not in meta(pages["leaderboard.html"])
    (recorded.root / "detectors" / "expected").mkdir(parents=True)
    (recorded.root / rates).write_bytes(b"a picture")
    site = build(recorded.catalog, url=URL)
    images = {name: meta(page)["og:image"] for name, page in site.pages.items()}
    assert images.pop("bugs/Toy-1.html") == f"{URL}/files/{figure}"
    assert set(images.values()) == {f"{URL}/files/{rates}"}
    assert {f"files/{figure}", f"files/{rates}"} <= set(site.files)


def test_a_hostile_address_is_text(recorded):
    for page in build(recorded.catalog, url='https://x/"><script>').pages.values():
        assert Page(page).problems == []
        assert '"><script>' not in page


@pytest.mark.parametrize(
    "url",
    ["example.org", "ftp://a.org", "https://", "https://[", "https://a b", "https://a/?q", "https://a/#f",
     "https://a/\n", "javascript:alert(1)"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(recorded, cli, url, tmp_path):
    status, out, err = cli("site", "--url", url)
    assert (status, out) == (2, "")
    assert "expected http://… or https://…" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "site").exists()


def test_a_report_has_no_address(toy, cli):
    status, out, err = cli("site", "--from", "results", "--url", URL)
    assert (status, out) == (2, "")
    assert "--url is for the site" in err
    assert len(err.splitlines()) == 1


def test_the_command_takes_an_address(recorded, cli, tmp_path):
    assert cli("site", "--url", "http://localhost:8000")[0] == 0
    page = (tmp_path / "site" / "studies.html").read_text()
    assert meta(page)["canonical"] == "http://localhost:8000/studies.html"
