"""The site of the real catalogue, and what its records of detectors say,
made once in each process of tests.
"""

import pytest

from runner.bugs.catalog import Catalog
from support.paths import ROOT


@pytest.fixture(scope="session")
def real():
    from trainbugs.website.build import build

    return build(Catalog(ROOT))


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
