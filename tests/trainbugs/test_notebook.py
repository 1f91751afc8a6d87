"""The notebook in docs runs, and its committed outputs are what it gives."""

import os
import subprocess
import sys

import nbformat
from support.paths import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
EXECUTE = "from nbclient.cli import main; main()"
WRITE_ANEW = "write the outputs anew: `.venv/bin/jupyter execute --inplace docs/notebook.ipynb`"


def outputs(path):
    """Of each code cell the text of its last value, and whether it shows a picture."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    shown = []
    for cell in cells:
        data = [output.data for output in cell.outputs if output.output_type == "execute_result"]
        shown.append([(part.get("text/plain"), "image/png" in part) for part in data])
    return shown


def test_the_committed_outputs_are_what_the_notebook_gives(tmp_path):
    executed = tmp_path / "notebook.ipynb"
    command = [sys.executable, "-c", EXECUTE, "--output", str(executed), str(NOTEBOOK)]
    # The kernel of these tests, whatever else a user has installed.
    own = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"}
    subprocess.run(command, cwd=tmp_path, env=own, check=True, capture_output=True, timeout=300)
    assert outputs(executed) == outputs(NOTEBOOK), WRITE_ANEW


def test_every_cell_shows_something_and_some_show_figures():
    shown = outputs(NOTEBOOK)
    assert len(shown) >= 6
    assert all(len(cell) == 1 for cell in shown)
    assert sum(has_picture for ((_, has_picture),) in shown) >= 3
