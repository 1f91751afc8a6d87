"""The real site at an address on this machine, and the browser that looks at it."""

import pytest
from support import browser


@pytest.fixture(scope="package")
def address(real, tmp_path_factory):
    from trainbugs.website.folder import write

    folder = tmp_path_factory.mktemp("site") / "site"
    write(real, folder)
    with browser.served(folder) as served:
        yield served


@pytest.fixture(scope="package")
def driver():
    new_driver = browser.chromium()
    yield new_driver
    new_driver.quit()
