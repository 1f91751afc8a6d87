"""One bad program, name or argument ends itself, in one line,
and neither the command nor the terminal nor a reader.
"""

import csv
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from support.toy import OWN_PYTHON, SCRIPT

from evaluation.scoring.report import as_csv
from runner.environments.install import Installation
from runner.errors import EnvironmentBuildError
from runner.files.cells import cell, text_of
from runner.files.locks import PREFIX
from runner.files.untrusted import printable

FORMULAS = (
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "'=1",
    "=\n1+1", "-\n2+3", "@\nSUM(1)", "＝\r\n1", "'=\n1",
)  # fmt: skip
HARMLESS = ("", "-", "text", "-1.5", "+3", "1e-3", "a=b", "'quoted'", "nan", "-inf")


def program(toy):
    """The words of a process with the command line on the toy catalogue."""
    code = (
        "import sys; from pathlib import Path; from runner.bugs.catalog import Catalog; from "
        "trainbugs import api; from trainbugs.cli.main import main; api.load = lambda root=None: "
        f"Catalog(Path({str(toy.root)!r})); sys.exit(main(sys.argv[1:]))"
    )
    return [sys.executable, "-c", code]


@pytest.fixture
def temporary(shared, monkeypatch):
    """The folder for temporary files of commands, and of those that they start."""
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    return shared


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"),
    reason=(
        "NOT RUN: root may read a folder without permissions, and there is no setpriv to take that "
        "away"
    ),
)
def test_a_script_that_takes_the_permissions_of_its_folder_is_invalid_and_the_rest_goes_on(
    toy, temporary
):
    toy.configure(seeds=[0])
    toy.write("buggy.py", SCRIPT.replace("VALUE", "1") + "import os\nos.chmod('.', 0)\n")
    lesser = (
        ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    )
    words = ["run", "Toy-1", "--json", "-q", *OWN_PYTHON, "--results", str(toy.results)]
    done = subprocess.run(
        [*lesser, *program(toy), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    (verdict,) = json.loads(done.stdout)
    assert verdict["verdict"] == "INVALID"
    assert "metrics.json: cannot be read: Permission denied" in verdict["reason"]
    records = [json.loads(Path(path).read_text()) for path in verdict["paths"]]
    assert {run["variant"]: run["status"] for run in records} == {
        "buggy": "no records",
        "fixed": "ok",
    }
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    "url", ["\udcff", "https://example.org/\x1b[2J", "no address", "https://a b", "x:\n"]
)
def test_an_address_that_no_document_can_hold_is_refused(cli, url):
    status, out, err = cli("export", "--url", url)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "is no address, expected one like https://example.org/trainbugs" in err
    assert err.isascii()
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "words", [["list", "--\x1b[2J"], ["list", "\u061cx"], ["run", "a\nb"], ["\x1b]0;x\x07"]]
)
def test_an_argument_is_not_printed_as_it_is(cli, words):
    status, _, err = cli(*words)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert not re.search("[\x1b\x07\u061c]", err)


@pytest.mark.parametrize(
    "number", [0xAD, 0x61C, 0x200B, 0x200D, 0x200F, 0x202E, 0x2066, 0x2069, 0xFEFF, 0xE0041]
)
def test_what_reverses_reading_or_is_not_seen_is_in_no_title_and_no_message(toy, cli, number):
    assert printable(f"a{chr(number)}b").isascii()
    toy.configure(title=f"A{chr(number)} toy")
    status, out, err = cli("list")
    assert status == 2
    assert chr(number) not in out + err
    assert "is no text of one line" in err


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_is_a_formula_gets_an_apostrophe(text):
    assert cell(text) == f"'{text}"
    assert text_of(cell(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_and_numbers_stay(text):
    assert cell(text) is text
    assert text_of(text) == text
    assert cell(-1.5) == -1.5
    assert cell(None) is None


def test_tables_of_scores_hold_no_formula_and_change_nothing_else():
    table = pd.DataFrame(
        {"name": ["=1+1", "b"], "n": pd.Series([1, None], dtype=object), "x": [-0.5, 2.0]}
    )
    assert as_csv(table) == "name,n,x\n'=1+1,1,-0.5\nb,,2.0\n"
    plain = table.assign(name=["a", "-"])
    assert as_csv(plain) == plain.to_csv(index=False)


def test_metrics_of_a_script_are_no_formulas_in_the_table_of_results(toy, cli, tmp_path):
    formula = "=cmd|' /C calc'!A0"
    toy.configure(seeds=[0])
    toy.write(
        "buggy.py",
        SCRIPT.replace("VALUE", "1").replace(
            '"epoch": epoch,', f'"epoch": epoch, "t": {formula!r},'
        ),
    )
    cli("run", "Toy-1", "-q", *OWN_PYTHON)
    status, _, err = cli("results", "--csv", tmp_path / "all.csv")
    assert status == 0, err
    with (tmp_path / "all.csv").open(newline="") as file:
        assert {row["metric.t"] for row in csv.DictReader(file)} == {"", f"'{formula}"}
    assert not list(tmp_path.glob(f"{PREFIX}*"))
    assert cli("results", "--csv", "/dev/stdout")[0] == 0


def test_uv_without_its_program_is_told(monkeypatch, toy, toy_environment):
    from support.environments import QUIET, load

    def missing():
        raise FileNotFoundError("uv")

    monkeypatch.setattr("uv.find_uv_bin", missing)
    installation = Installation(
        load(toy), toy.root / "venv", toy.root / "target", None, True, QUIET
    )
    with pytest.raises(
        EnvironmentBuildError, match="uv, which builds it, is installed without its program: `pip"
    ):
        installation.do()


ENDS = [signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGKILL]


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_what_a_signal_leaves_the_next_command_sweeps(toy, cli, number, temporary):
    toy.write("buggy.py", "import time\ntime.sleep(60)\n")
    words = ["run", "Toy-1", *OWN_PYTHON, "--results", str(toy.results), "-q"]
    with subprocess.Popen([*program(toy), *words]) as command:
        _wait(lambda: list(temporary.glob(".trainbugs-*/run-*/run/config.json")))
        command.send_signal(number)
    assert list(toy.results.glob(f"{PREFIX}*"))
    toy.write("buggy.py", SCRIPT.replace("VALUE", "1"))
    assert cli(*words)[0] == 0
    gc.collect()
    _wait(lambda: not list(toy.results.glob(f"{PREFIX}*")) and not list(temporary.iterdir()))


def _wait(holds):
    for _ in range(200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb"])
def test_a_folder_for_temporary_files_with_an_odd_name(toy, cli, tmp_path, monkeypatch, name):
    """Either it works, or one line says what is wrong."""
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    status, out, err = cli("run", "Toy-1", "-q", *OWN_PYTHON)
    assert "\x1b" not in out + err
    assert status == 0 or (status == 2 and len(err.splitlines()) == 1), (out, err)
