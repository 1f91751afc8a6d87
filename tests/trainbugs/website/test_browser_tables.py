"""Tables of the real site in a real headless browser: what is shown, downloaded and printed."""

import csv
import io
import time
from pathlib import Path

import pytest
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from support import browser
from support.browser import choose, rows

pytest.importorskip("jinja2", reason="what the site is made with is not installed")

# A whole site is made and looked at.
pytestmark = pytest.mark.stress

WIDE = ("leaderboard.html", "rules.html", "tracks.html", "detectors/trainproof.html", "detectors/sanitizer-3.html")  # fmt: skip
# How many tables of each page can be downloaded, at least.
DOWNLOADED = {"index.html": 2, "leaderboard.html": 4, "matrix.html": 1, "rules.html": 1, "tracks.html": 2,
              "detectors/trainproof.html": 5}  # fmt: skip
MAX_PRINTED_PAGES = 4
PATIENCE_S = 30


def look(driver, address, page, width=1280):
    browser.show(driver, width)
    driver.get("about:blank")
    driver.get(address + page)
    return driver


@pytest.fixture
def downloads(driver, tmp_path):
    """The folder in which the browser saves what it downloads."""
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    return tmp_path


def saved(folder: Path, name: str) -> list[list[str]]:
    """The rows of a downloaded table, as soon as it is there."""
    end = time.monotonic() + PATIENCE_S
    while not (folder / name).is_file() and time.monotonic() < end:
        time.sleep(0.1)
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def press(driver, table: str) -> None:
    """Press the button of a table by the keyboard."""
    from selenium.webdriver.common.keys import Keys

    script = (
        "const table = document.querySelector(arguments[0]); "
        "table.parentElement.previousElementSibling.querySelector('button').focus()"
    )
    driver.execute_script(script, table)
    driver.switch_to.active_element.send_keys(Keys.ENTER)


def test_the_bugs_that_are_shown_are_downloaded_in_their_order(driver, address, downloads):
    look(driver, address, "index.html")
    choose(driver, "location", "compiler")
    driver.execute_script("document.querySelector('[data-column=seconds] button').click()")
    shown = rows(driver)
    press(driver, "#bugs")
    headings, *table = saved(downloads, "bugs.csv")
    assert headings[:3] == ["Bug", "What happens", "Where"]
    assert [row[0] for row in table] == [" ".join(name.split()) for name in shown]
    assert {len(row) for row in table} == {len(headings)}
    assert {row[2] for row in table} == {"compiler"}
    assert any("," in row[8] for row in table)


def test_a_downloaded_cell_has_the_words_and_not_the_marks(driver, address, downloads):
    look(driver, address, "matrix.html")
    press(driver, ".matrix")
    headings, *table = saved(downloads, "matrix.csv")
    states = {state for row in table for state in row[1:]}
    assert {"found", "silent", "also on fixed"} <= states
    assert not any(mark in state for mark in "●◔◑◐✗○" for state in states)
    assert len(headings) > 20


def test_a_quote_in_a_cell_is_no_end_of_it(driver, address, downloads):
    look(driver, address, "index.html")
    driver.execute_script(
        "document.querySelector('#bugs tbody td').textContent = 'a \"b\", c\\n d'"
    )
    press(driver, "#bugs")
    assert saved(downloads, "bugs.csv")[1][1] == 'a "b", c d'


@pytest.mark.parametrize("page", DOWNLOADED)
def test_each_table_has_a_button_that_no_paper_shows(driver, address, page):
    look(driver, address, page)
    count = (
        "return [...document.querySelectorAll('main :is(.scroll, .wrap) > table')].map(t => "
        "Boolean(t.parentElement.previousElementSibling?.matches('.download')))"
    )
    has_button = driver.execute_script(count)
    assert all(has_button)
    assert len(has_button) >= DOWNLOADED[page]
    shown = (
        "return [...document.querySelectorAll('.download')].filter(b => b.getClientRects().length)"
    )
    names = "return [...new Set([...document.querySelectorAll('.download button')].map(b => b.ariaLabel))]"
    assert len(driver.execute_script(names)) == len(driver.execute_script(shown))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert driver.execute_script(shown) == []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_there_is_no_button(driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        look(driver, address, "leaderboard.html")
        assert "Download this table" not in driver.page_source
        assert 'href="downloads/scores.csv"' in driver.page_source
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("event", ["input", "change"])
def test_a_filter_hears_either_event(driver, address, event):
    look(driver, address, "index.html")
    every = rows(driver)
    choose(driver, "location", "compiler", event)
    assert 0 < len(rows(driver)) < len(every)


@pytest.mark.parametrize("width", [1280, 1130, 820, 390])
@pytest.mark.parametrize("page", WIDE)
def test_no_cell_leaves_its_box(driver, address, page, width):
    look(driver, address, page, width)
    assert browser.outside_cells(driver) == []


def test_a_cell_outside_of_its_box_is_found(driver):
    """If it found nothing, the test above would hold of anything."""
    browser.show(driver, 390)
    driver.get(
        "data:text/html,<main><div class=scroll style='overflow-x:auto'><table><caption>t</caption>"
        "<tr><td><div style='width:900px'>wide</div></td></tr></table></div></main>"
    )
    assert len(browser.outside_cells(driver)) == 1


@pytest.mark.parametrize("page", ["index.html", "leaderboard.html"])
def test_a_page_of_tables_prints_on_few_sheets(driver, address, page):
    look(driver, address, page)
    # One page would be an empty one: the tables need more. On a busy machine the browser once
    # printed before the tables were there.
    end = time.monotonic() + PATIENCE_S
    pages = browser.printed_pages(driver)
    while pages == 1 and time.monotonic() < end:
        time.sleep(0.5)
        pages = browser.printed_pages(driver)
    assert 1 < pages <= MAX_PRINTED_PAGES


def test_pages_of_a_pdf_are_counted():
    file = io.BytesIO()
    with PdfPages(file) as pages:
        for _ in range(3):
            pages.savefig(Figure())
    assert browser.count_pages(file.getvalue()) == 3
