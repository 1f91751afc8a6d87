"""The site of the real catalogue, and what its records of detectors say, made once in each process
of tests; for a module of tests the site has an address, and there is a browser.
"""

import pytest

from runner.bugs.catalog import Catalog
from support import browser
from support.paths import ROOT


@pytest.fixture(scope="session")
def real():
    from trainbugs.website.build import build

    return build(Catalog(ROOT))


@pytest.fixture(scope="module")
def address(real, tmp_path_factory):
    """Where the real site is served, on this machine only."""
    from trainbugs.website.folder import write

    folder = tmp_path_factory.mktemp("site") / "site"
    write(real, folder)
    with browser.served(folder) as served:
        yield served


@pytest.fixture(scope="module")
def driver():
    """A headless browser."""
    new_driver = browser.chromium()
    yield new_driver
    new_driver.quit()


@pytest.fixture(scope="session")
def answers(tmp_path_factory):
    """What the committed records of detectors say of each case, with their scores."""
    from evaluation.catalog import rule_settings, submissions
    from evaluation.reading.sources import RecordSelection, read_records
    from trainbugs.website.evaluations import evaluation

    catalog = Catalog(ROOT)
    read = read_records(catalog, RecordSelection((), "expected", tmp_path_factory.mktemp("none")))
    frozen, settings = submissions.load_frozen(ROOT), rule_settings.load(ROOT)
    return evaluation(read, list(catalog), frozen, settings)
