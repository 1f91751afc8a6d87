"""Whatever is in the files of a study or in an index, the program ends with a line;
see `test_fuzz.py`.
"""

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fuzzing import MARKS, broken, broken_lines, opened, torn, variants
from support.studies import write_study
from support.toy import OWN_PYTHON

from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.studies import table
from runner.studies.definition import select
from runner.studies.running import collect_results

pytestmark = MARKS

STUDY = "Toy-1/grid"
RESULTS = (*OWN_PYTHON, "-q", "--results", "../results")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fuzz")) as opened_bench:
        write_study(
            opened_bench.toy, seeds=[0], grid=[{"values": {"factor": [0, 1], "kind": ["a"]}}]
        )
        assert opened_bench.call("study", STUDY, *RESULTS) == 0
        study = select(opened_bench.toy.catalog, STUDY)[0]
        options = Options(python=Path(sys.executable), results=opened_bench.toy.results)
        rows = collect_results(opened_bench.toy.catalog, study, options, on_stderr()).rows
        study.path(".csv").write_text(table.text(study, rows))
        yield opened_bench


def test_what_is_not_spoiled_is_well(bench):
    """Else the rest of this file would look at errors only."""
    assert bench.call("study", STUDY, "--from", "expected") == 0
    assert bench.call("study", STUDY, "--from", "results", *RESULTS) == 0
    assert bench.call("results", "--results", bench.toy.results) == 0


@given(data=st.data())
@variants(40)
def test_study(bench, data):
    path = bench.toy.directory / "studies" / "grid.json"
    with bench.spoil(path, data.draw(broken(path.read_text()))):
        bench.call("study", "Toy-1", "--from", "expected")
        bench.call("study", STUDY, "--from", "expected", "--json")
        bench.call("study", STUDY, "--from", "results", *RESULTS)
        bench.call("validate", "Toy-1")
        bench.call("info", "Toy-1")


@given(data=st.data())
@variants(40)
def test_table(bench, data):
    path = bench.toy.directory / "studies" / "grid.csv"
    with bench.spoil(path, data.draw(torn(path.read_text()) | st.binary(max_size=200))):
        status = bench.call("study", STUDY, "--from", "expected")
        assert status == bench.call("study", STUDY, "--from", "expected", "--json")
        bench.call("validate", "Toy-1")


@pytest.mark.parametrize("change", ["cut", "longer"])
def test_lines_have_as_many_cells_as_the_first(bench, change):
    path = bench.toy.directory / "studies" / "grid.csv"
    text = path.read_text()
    remaining = text.rstrip("\n")
    with bench.spoil(
        path, (remaining.rpartition(",")[0] if change == "cut" else f"{remaining},1,2").encode()
    ):
        assert bench.call("study", STUDY, "--from", "expected") == 2
        assert bench.call("study", STUDY, "--from", "expected", "--figures") == 2
        assert bench.call("validate", "Toy-1") == 1


@given(data=st.data())
@variants(3)
def test_table_is_drawn(bench, data):
    path = bench.toy.directory / "studies" / "grid.csv"
    with bench.spoil(path, data.draw(torn(path.read_text()))):
        bench.call("study", STUDY, "--from", "expected", "--figures")


@given(data=st.data())
@variants(40)
def test_index(bench, data):
    """An index is a cache: whatever is in it, the records count."""
    path = bench.toy.results / ".index"
    text = path.read_text()
    with bench.spoil(
        path, data.draw(torn(text) | broken_lines("1\n2\n") | st.binary(max_size=200))
    ):
        assert bench.call("results", "--results", bench.toy.results) == 0
    shutil.rmtree(bench.out, ignore_errors=True)
