"""The site of the real catalogue, made once in each process of tests."""

import pytest
from support.paths import ROOT

from runner.bugs.catalog import Catalog
from trainbugs.site.build import build
from trainbugs.site.evaluations import evaluation
from trainbugs.sources import Part, evaluated


@pytest.fixture(scope="session")
def real():
    return build(Catalog(ROOT))


@pytest.fixture(scope="session")
def answers(tmp_path_factory):
    """What the committed records of detectors say of each case, with their scores."""
    catalog = Catalog(ROOT)
    return evaluation(evaluated(catalog, Part((), "expected", tmp_path_factory.mktemp("none"))), list(catalog))
