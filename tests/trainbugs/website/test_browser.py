"""The real site in a real headless browser: search, filters, sorting, keyboard, widths, weight,
accessibility.

With TRAINBUGS_SITE_EVIDENCE=DIR, report.json and pictures of pages in three widths are written to
DIR.
"""

import io
import json
import os
from pathlib import Path
from statistics import mean

import pytest
from support import browser
from support.browser import choose, rows
from support.paths import ROOT
from support.rewritten import commit_all

from runner.bugs.catalog import Catalog
from runner.results.expected import expected_records

pytest.importorskip("jinja2", reason="what the site is made with is not installed")
from trainbugs.website.build import build  # noqa: E402
from trainbugs.website.folder import write  # noqa: E402

# A whole site is made and looked at.
pytestmark = pytest.mark.stress

WIDTHS = {"phone": 360, "tablet": 768, "desktop": 1280}
PAGES = (
    "index.html", "bugs/SO-60335387.html", "bugs/PyTorch-115607.html", "leaderboard.html", "matrix.html", "rules.html",
    "detectors/trainproof.html", "studies.html",
    "studies/PyTorch-115607-gaps.html", "tracks.html", "docs/index.html", "docs/detectors.html", "downloads.html",
)  # fmt: skip
MAX_BYTES = 500_000
EVIDENCE = "TRAINBUGS_SITE_EVIDENCE"
PICTURED = ("index.html", "bugs/SO-60335387.html", "leaderboard.html")


@pytest.fixture(scope="module")
def report():
    """What is seen, page by page; written where evidence is asked for."""
    measures: dict = {}
    yield measures
    folder = os.environ.get(EVIDENCE)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / "report.json").write_text(
            json.dumps(measures, indent=1, sort_keys=True) + "\n"
        )


@pytest.fixture
def front(driver, address):
    browser.show(driver, WIDTHS["desktop"])
    driver.get("about:blank")
    driver.get(address + "index.html")
    return driver


def test_search_finds_words_of_stories_and_labels(front, report):
    every = rows(front)
    assert len(every) == len(Catalog(ROOT).ids())
    from selenium.webdriver.common.by import By

    front.find_element(By.NAME, "q").send_keys("zero_grad(), MNIST")
    shown = rows(front)
    assert "SO-60335387" in shown
    assert 0 < len(shown) < len(every)
    assert (
        front.find_element(By.CSS_SELECTOR, ".found").text == f"{len(shown)} of {len(every)} bugs"
    )
    front.find_element(By.NAME, "q").send_keys(" nosuchword")
    assert rows(front) == []
    front.find_element(By.CSS_SELECTOR, "[type=reset]").click()
    front.execute_async_script("setTimeout(arguments[0], 50)")
    assert rows(front) == every
    report["search"] = {"zero_grad(), MNIST": shown}


@pytest.mark.parametrize(
    "name", ["location", "cause", "effect", "stage", "release", "found", "realism"]
)
def test_each_filter_shows_as_many_rows_as_it_says(front, name):
    script = (
        "return [...document.querySelector(`[name=${arguments[0]}]`).options].map(o => [o.value, "
        "o.text])"
    )
    options = front.execute_script(script, name)
    assert len(options) > 2
    for value, text in options[1:]:
        choose(front, name, value)
        assert text == f"{value} ({len(rows(front))})"


def test_a_view_is_in_the_address(front, address):
    choose(front, "location", "compiler")
    front.execute_script("document.querySelector('[data-column=seconds] button').click()")
    shown, url = rows(front), front.current_url
    bugs = Catalog(ROOT)
    assert sorted(name.removesuffix(" retired") for name in shown) == sorted(
        name for name in bugs.ids() if bugs.bug(name).labels.location == "compiler"
    )
    front.get("about:blank")
    front.get(url)
    assert rows(front) == shown
    assert url.endswith("#location=compiler&sort=seconds")
    # An address of nonsense is no error.
    front.get("about:blank")
    front.get(address + "index.html#location=moon&sort=-nothing&q=")
    assert len(rows(front)) == len(bugs.ids())
    assert browser.console(front) == []


def test_columns_sort_in_both_directions(front):
    heads = front.execute_script(
        "return [...document.querySelectorAll('#bugs [data-column]')].map(h => h.dataset.column)"
    )
    assert len(heads) == 9
    script = (
        "const h = document.querySelector(`[data-column=${arguments[0]}]`); "
        "h.querySelector('button').click(); return [h.getAttribute('aria-sort'), "
        "document.querySelectorAll('[aria-sort]').length, [...document.querySelectorAll('#bugs "
        "tbody tr')].map(r => r.cells[h.cellIndex].innerText.trim())]"
    )
    for head in heads:
        up, down = (front.execute_script(script, head) for _ in range(2))
        assert (up[0], down[0], up[1]) == ("ascending", "descending", 1)
        assert sorted(up[2]) == sorted(down[2])
        if head in ("cases", "seconds"):
            numbers = [float(text) for text in up[2] if text not in ("", "–")]
            assert numbers == sorted(numbers)
            assert len(numbers) > 20


def test_the_keyboard_reaches_and_moves_everything(front):
    from selenium.webdriver.common.keys import Keys

    body = front.switch_to.active_element
    body.send_keys(Keys.TAB)
    assert front.switch_to.active_element.get_attribute("class") == "skip"
    front.switch_to.active_element.send_keys(Keys.ENTER)
    assert front.execute_script("return location.hash") == "#main"
    assert len(rows(front)) == len(Catalog(ROOT).ids())
    front.execute_script("document.querySelector('[data-column=id] button').focus()")
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    front.switch_to.active_element.send_keys(Keys.ENTER)
    assert (
        front.execute_script("return document.querySelector('[data-column=id]').ariaSort")
        == "ascending"
    )
    assert front.execute_script(outline) == "solid"


def test_curves_tell_their_values(driver, address):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.show(driver, WIDTHS["desktop"])
    driver.get(address + "bugs/SO-60335387.html")
    figure = driver.find_elements(By.CSS_SELECTOR, "figure[data-chart]")[1]
    svg = figure.find_element(By.TAG_NAME, "svg")
    svg.send_keys(Keys.END)
    readout = figure.find_element(By.CSS_SELECTOR, ".readout").text
    bug = Catalog(ROOT).bug("SO-60335387")
    fixed = [record for record in expected_records(bug, "digits") if record.variant == "fixed"]
    last = [record.metrics[-1]["validation_accuracy"] for record in fixed]
    shown = f"fixed, validation {mean(last):.4g} ({min(last):.4g} to {max(last):.4g})"
    assert readout.startswith("10: ")
    assert shown in readout
    svg.send_keys(Keys.HOME)
    assert figure.find_element(By.CSS_SELECTOR, ".readout").text.startswith("1: ")
    figure.find_element(By.CSS_SELECTOR, ".legend button").click()
    hidden = figure.find_elements(By.CSS_SELECTOR, "svg .off")
    assert hidden
    assert all(element.value_of_css_property("display") == "none" for element in hidden)


def test_without_scripts_everything_is_there(driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(address + "index.html")
        from selenium.webdriver.common.by import By

        assert len(driver.find_elements(By.CSS_SELECTOR, "#bugs tbody tr")) == len(
            Catalog(ROOT).ids()
        )
        assert not driver.find_element(By.CSS_SELECTOR, "form.finder").is_displayed()
        driver.get(address + "bugs/SO-60335387.html")
        assert driver.find_element(By.CSS_SELECTOR, "figure.chart .line").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_are_light_and_say_nothing_in_the_console(driver, address, page, report):
    measures = report.setdefault("pages", {}).setdefault(page, {})
    browser.console(driver)
    for name, width in WIDTHS.items():
        browser.show(driver, width)
        driver.get("about:blank")
        driver.get(address + page)
        browser.settle(driver)
        loaded = browser.transferred(driver)
        measures[name] = {"width": width, "bytes": sum(loaded.values()), "requests": len(loaded)}
        assert all(url.startswith(address) for url in loaded), loaded
        assert sum(loaded.values()) < MAX_BYTES, loaded
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width, name
        _picture(driver, page, name, width)
    measures["console"] = browser.console(driver)
    assert measures["console"] == []


def test_every_picture_loads(driver, address):
    for page in PAGES:
        driver.get(address + page)
        script = (
            "const done = arguments[0]; for (const i of document.images) i.loading = 'eager'; "
            "Promise.all([...document.images].map(i => i.decode().then(() => null, () => "
            "i.src))).then(done)"
        )
        assert [lost for lost in driver.execute_async_script(script) if lost] == [], page


def test_a_heading_of_the_leaderboard_sorts_its_table(driver, address):
    browser.show(driver, WIDTHS["desktop"])
    driver.get(address + "leaderboard.html")
    script = (
        "const t = document.querySelector('table.board'); "
        "const column = [...t.tHead.rows[0].cells].findIndex(c => c.dataset.rate === 'false_fixed'); "
        "t.tHead.rows[0].cells[column].querySelector('button').click(); "
        "return [...t.tBodies[0].rows].map(r => r.cells[column].dataset.value)"
    )
    down, up = driver.execute_script(script), driver.execute_script(script)
    values = [float(value) for value in down]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 3
    assert [float(value) for value in up] == sorted(values)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_finding(driver, address, report, scheme):
    for page in PAGES:
        browser.show(driver, WIDTHS["desktop"], scheme=scheme)
        driver.get(address + page)
        findings = browser.axe(driver)
        report.setdefault("axe", {}).setdefault(scheme, {})[page] = findings
        assert [
            finding for finding in findings if finding["impact"] in ("serious", "critical", None)
        ] == [], page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_public_perturbed_and_planted_programs_fit_side_by_side(
    driver, toy, tmp_path, report, scheme
):
    """With invented records: the committed ones may have none of rewritten programs."""
    commit_all(toy.root)
    write(build(toy.catalog), tmp_path / "site")
    with browser.served(tmp_path / "site") as served:
        for name, width in (*WIDTHS.items(), ("small desktop", 1024)):
            browser.show(driver, width, scheme=scheme)
            driver.get("about:blank")
            driver.get(served + "leaderboard.html")
            script = (
                "const t = document.querySelector('#beside'); return [t.scrollWidth, "
                "t.parentElement.clientWidth]"
            )
            table, room = driver.execute_script(script)
            assert table <= room <= width, name
            assert rows(driver, "beside") == ["memory negative control", "optimizer-progress"]
        findings = browser.axe(driver)
        driver.get(served + "rules.html")
        choose(driver, "kind", "detector")
        assert rows(driver, "scores") == ["optimizer-progress"]
    report.setdefault("axe", {}).setdefault(scheme, {})["side by side"] = findings
    assert findings == []


def test_axe_finds_what_is_wrong(driver):
    """If it found nothing, the test above would hold of anything."""
    browser.show(driver, WIDTHS["desktop"])
    driver.get(
        "data:text/html,<html><body><img src=x><input><p "
        "style='color:silver'>pale</p></body></html>"
    )
    assert {"image-alt", "label", "color-contrast", "html-has-lang"} <= {
        finding["id"] for finding in browser.axe(driver)
    }


def _picture(driver, page, name, width):
    """Pictures of the first screen in few colours; dark ones of the narrowest and the widest."""
    folder = os.environ.get(EVIDENCE)
    if not folder or page not in PICTURED:
        return
    from PIL import Image

    for scheme in ("light", "dark") if name != "tablet" else ("light",):
        browser.show(driver, width, height=1000, scheme=scheme)
        browser.settle(driver)
        shot = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
        target = Path(folder) / f"{Path(page).stem}-{name}-{scheme}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        shot.quantize(24, dither=Image.Dither.NONE).save(target, optimize=True)
    browser.show(driver, width)
