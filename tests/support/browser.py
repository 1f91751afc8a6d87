"""A real headless browser, a server for a folder of pages, and what the browser says of a page."""

import base64
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# The file axe.min.js of axe-core 4, which is not part of this repository.
AXE = "TRAINBUGS_AXE"
# A page that loads slowly is no failure of its own.
PATIENCE_S = 300


def chromium():
    """A driver of the system's Chromium, or of the one in PATH;
    the test is skipped where there is none.
    """
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if not browser or not driver_path:
        pytest.skip("there is no Chromium with chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    driver.set_page_load_timeout(PATIENCE_S)
    driver.set_script_timeout(PATIENCE_S)
    return driver


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served, on this machine only."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def show(driver, width: int, height: int = 900, scheme: str = "light") -> None:
    """Set the width of the window, and whether it is dark; nothing moves smoothly."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    # Smooth scrolling would move what is clicked.
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def console(driver) -> list[str]:
    """What the console says since the last time, warnings and errors."""
    return [
        entry["message"]
        for entry in driver.get_log("browser")
        if entry["level"] in ("WARNING", "SEVERE")
    ]


def settle(driver) -> None:
    """Wait until the pictures near the first screen are there;
    those further away are loaded when one gets near.
    """
    script = (
        "const done = arguments[0], began = performance.now(); let seen = -1; (function look() "
        "{const count = performance.getEntriesByType('resource').length;const near = "
        "[...document.images].filter(i => i.getBoundingClientRect().top < innerHeight && "
        "i.offsetParent);if (count === seen && near.every(i => i.complete) || performance.now() - "
        "began > 60000) return done();seen = count; setTimeout(look, 1000); })()"
    )
    driver.execute_async_script(script)


def transferred(driver) -> dict[str, int]:
    """The bytes of the page and of all that it has loaded, by address."""
    script = (
        "return [...performance.getEntriesByType('navigation'), "
        "...performance.getEntriesByType('resource')].map(e => [e.name, e.encodedBodySize])"
    )
    return {name.split("#")[0]: size for name, size in driver.execute_script(script)}


def axe(driver) -> list[dict]:
    """The serious and critical findings of axe-core on the page;
    skips where the file is not named.
    """
    path = os.environ.get(AXE)
    if not path:
        pytest.skip(f"{AXE} does not name the file axe.min.js of axe-core 4")
    driver.execute_script(Path(path).read_text(encoding="utf-8"))
    run = (
        "const done = arguments[0]; axe.run().then(r => done(r.violations), e => done([{id: "
        "String(e), nodes: []}]))"
    )
    return [_summary(violation) for violation in driver.execute_async_script(run)]


def _summary(violation: dict) -> dict:
    """The name of a violation, and the first places where it is."""
    places = [node["target"] for node in violation["nodes"][:5]]
    return {"id": violation["id"], "impact": violation.get("impact"), "nodes": places}


def rows(driver, table: str = "bugs") -> list[str]:
    """The first cells of the rows of a table that are shown."""
    return driver.execute_script(
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].filter(r => "
        "r.offsetParent || r.getClientRects().length).map(r => r.cells[0].innerText.trim())",
        table,
    )


def choose(driver, name: str, value: str, event: str = "input") -> None:
    """Set a filter, and tell the page by one event alone."""
    script = (
        "const e = document.querySelector(`[name=${arguments[0]}]`); e.value = arguments[1]; "
        "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))"
    )
    driver.execute_script(script, name, value, event)


def printed_pages(driver) -> int:
    """How many pages of A4 the page takes in print."""
    paper = {"paperWidth": 8.27, "paperHeight": 11.69}
    return count_pages(base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", paper)["data"]))


def count_pages(pdf: bytes) -> int:
    """How many pages a PDF has."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def outside_cells(driver) -> list[str]:
    """The cells of tables that reach out of the box in which their table scrolls, with how far."""
    script = """
const reach = cell => {
  const words = document.createRange();
  words.selectNodeContents(cell);
  const edge = cell.closest('.scroll, .wrap').getBoundingClientRect();
  const boxes = [cell.getBoundingClientRect(), words.getBoundingClientRect()].filter(b => b.width > 1);
  return Math.max(0, ...boxes.map(b => Math.max(b.right - edge.right, edge.left - b.left)));
};
return [...document.querySelectorAll('main :is(.scroll, .wrap) :is(th, td)')]
  .filter(cell => cell.getClientRects().length && reach(cell) > 1)
  .map(cell => `${cell.closest('table').caption.textContent}: ${cell.innerText}: ${Math.ceil(reach(cell))} px`);
"""
    return driver.execute_script(script)
