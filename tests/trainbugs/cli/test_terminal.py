"""Tables and texts on a terminal: they fit its width, colours move nothing,
and nothing is cut elsewhere.
"""

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.paths import ROOT
from support.terminal import COLOUR, on_terminal
from support.toy import OWN_PYTHON, SCRIPT

from runner.bugs.catalog import Catalog
from runner.progress.lines import terminal_width
from trainbugs.cli.commands.list import list_table
from trainbugs.cli.terminal import (
    COLOURS,
    LEAST,
    MARK,
    Terminal,
    show_table,
    show_text,
    show_verdicts,
    table,
)

ROWS = [
    ["CASE", "VERDICT", "RUNS", "WHY"],
    ["Toy-1/only", "REPRODUCED (injected)", "4", "4 checks hold"],
    [
        "Toy-2/only",
        "NOT REPRODUCED",
        "12",
        "seed 0: it stays low: last 27, expected <= 5, and so on and so forth",
    ],
    ["Toy-3/only", "INVALID", "1", "late"],
]
cells = st.lists(st.text("abc …", max_size=40).map(str.strip), min_size=4, max_size=4)


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """A terminal of 80 columns that shows colours."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Screen()


def test_what_fits_is_only_aligned():
    whole = table(ROWS)
    assert whole[2].split("  ")[-1] == ROWS[2][-1]
    assert {line.index(row[2]) for line, row in zip(whole, ROWS, strict=True)} == {35}
    assert table(ROWS, max(map(len, whole))) == whole


def test_columns_are_cut_to_the_largest_common_width():
    assert table(ROWS, 80) == [
        "CASE        VERDICT                RUNS  WHY",
        "Toy-1/only  REPRODUCED (injected)  4     4 checks hold",
        "Toy-2/only  NOT REPRODUCED         12    seed 0: it stays low: last 27,…",
        "Toy-3/only  INVALID                1     late",
    ]


def test_columns_without_room_are_left_out_the_last_one_first():
    assert table(ROWS, 60) == [
        "CASE        VERDICT                RUNS  … +1",
        "Toy-1/only  REPRODUCED (injected)  4     …",
        "Toy-2/only  NOT REPRODUCED         12    …",
        "Toy-3/only  INVALID                1     …",
    ]
    assert table(ROWS, 20)[1] == "Toy-1/only  …"
    assert table(ROWS, 10)[1] == "Toy…  …"


@settings(derandomize=True, database=None, deadline=None)
@given(rows=st.lists(cells, min_size=1, max_size=5), width=st.integers(7, 150))
def test_no_line_is_too_long_and_the_first_column_stays_whole(rows, width):
    lines = table(rows, width)
    assert all(len(line) <= width for line in lines)
    first = max(len(row[0]) for row in rows)
    if width >= first + 6:
        assert all(line.startswith(row[0]) for line, row in zip(lines, rows, strict=True))
    if lines != table(rows):
        assert any(MARK in line for line in lines)
        lengths = [map(len, column) for column in zip(*rows, strict=True)]
        natural = sum(map(max, lengths)) + 6
        assert natural > width
        room = width - first - 6
        if (
            room >= 3 * LEAST
        ):  # no column is left out, and no column of up to a third of the room is cut
            for column in (1, 2, 3):
                if max(len(row[column]) for row in rows) <= room // 3:
                    assert all(row[column] in line for line, row in zip(lines, rows, strict=True))


@pytest.mark.parametrize("width", [None, 80, 60, 30, 10])
def test_colours_move_nothing(width):
    coloured = table(ROWS, width, 1)
    assert [COLOUR.sub("", line) for line in coloured] == table(ROWS, width)
    assert ("\x1b" in "".join(coloured)) == (width not in (30, 10))


def test_each_verdict_has_its_colour():
    lines = table(ROWS, None, 1)
    assert "\x1b" not in lines[0]
    assert "\x1b[32mREPRODUCED\x1b[0m (injected)" in lines[1]
    assert "\x1b[33mNOT REPRODUCED\x1b[0m" in lines[2]
    assert "\x1b[1;31mINVALID\x1b[0m" in lines[3]
    assert set(COLOURS) >= {"affected", "not affected"}


@pytest.mark.parametrize(
    "width, foot", [(80, None), (60, "1 column does not fit"), (20, "3 columns do not fit")]
)
def test_it_is_said_how_many_columns_do_not_fit(screen, monkeypatch, width, foot):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout", screen)
    show_table(ROWS)
    lines = screen.getvalue().splitlines()
    assert lines[len(ROWS) :] == ([f"{foot}: pipe into cat, or --json"] if foot else [])


def test_the_list_keeps_its_titles_on_a_narrow_terminal(screen, monkeypatch):
    monkeypatch.setattr("sys.stdout", screen)
    table_of_bugs = list_table(list(Catalog(ROOT)))
    show_table(table_of_bugs)
    heading, *rows, foot = screen.getvalue().splitlines()
    assert " TITLE " in heading
    assert heading.endswith(f"{MARK} +3")
    assert foot.startswith("3 columns do not fit")
    start = heading.index("TITLE")
    titles = [row[start:].removesuffix(MARK).rstrip() for row in rows]
    whole = [row[2] for row in table_of_bugs[1:]]
    pairs = [(title, shown.removesuffix(MARK)) for title, shown in zip(whole, titles, strict=True)]
    assert all(title.startswith(shown) for title, shown in pairs)
    # Only a word that is longer than half of the column is cut.
    assert sum(not f"{title} ".startswith(f"{shown} ") for title, shown in pairs) <= 1


def test_a_reason_that_is_cut_is_shown_below(screen, monkeypatch):
    monkeypatch.setattr("sys.stdout", screen)
    show_verdicts(ROWS, 1)
    lines = screen.getvalue().splitlines()
    assert lines[4:] == [
        "",
        "Toy-2/only: seed 0: it stays low: last 27, expected <= 5, and so on and so forth",
    ]
    assert "\x1b[33mNOT REPRODUCED\x1b[0m" in lines[2]


def test_commands_stay_on_one_line(screen, monkeypatch):
    monkeypatch.setattr("sys.stdout", screen)
    command = "`trainbugs run PyTorch-115607 --force --update-expected`"
    show_text(
        f"Toy-1: 1 problem\n  expected/only has 0 of 6 runs; a long text that is here: {command} "
        "makes them"
    )
    assert screen.getvalue().splitlines()[2:] == [f"    {command} makes them"]


@pytest.mark.parametrize(
    "variables, colours",
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_can_be_switched_off(screen, monkeypatch, variables, colours):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Terminal.of(screen) == Terminal(80, colours)
    assert Terminal.of(io.StringIO()) == Terminal(None, False)


def test_width_of_a_stream_without_a_terminal(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width(io.StringIO()) > 0
    monkeypatch.setenv("COLUMNS", "33")
    assert terminal_width(io.StringIO()) == 33


def test_run_on_a_terminal(toy):
    toy.write("buggy.py", SCRIPT.replace("VALUE", "9"))
    arguments = [
        "run",
        toy.directory,
        "--seeds",
        "0",
        "--results",
        toy.results,
        "--quiet",
        *OWN_PYTHON,
    ]
    status, printed = on_terminal(*arguments, width=60)
    assert status == 1
    assert "\x1b[33mNOT REPRODUCED\x1b[0m" in printed
    lines = COLOUR.sub("", printed).splitlines()
    assert (
        max(len(line) for line in lines[:-1]) <= 60
    )  # the last one holds a path, which may not be broken
    assert lines[1].startswith("Toy-1/only  NOT REPRODUCED  2")
    assert lines[1].endswith(MARK)
    assert lines[2] == "1 column does not fit: pipe into cat, or --json"
    assert lines[4] == "Toy-1/only: seed 0: buggy stays low: last 27, expected <= 5"
    assert "\x1b" not in on_terminal(*arguments, NO_COLOR="1")[1]


def test_nothing_is_cut_where_there_is_no_terminal(toy, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    out = cli("list")[1]
    assert re.search(r"Toy-1/only +- +The one case +user code +toy +-$", out, re.MULTILINE)
    assert MARK not in out
    assert f"read more    {toy.directory}/README.md\n" in cli("info", "Toy-1")[1]


def test_texts_are_wrapped_between_words(toy):
    toy.configure(title="A toy whose title is long: " + "so many words " * 9)
    lines = on_terminal("info", toy.directory)[1].splitlines()
    assert lines[0].startswith("Toy-1: A toy")
    assert lines[1].startswith("  ")
    assert len(lines[0]) <= 80
    assert all(len(line) <= 80 for line in lines if "/" not in line)


def test_progress_fits_the_terminal_though_the_table_goes_to_a_file(toy, tmp_path):
    toy.write("fixed.py", "import time; time.sleep(0.5)\n" + SCRIPT.replace("VALUE", "2"))
    arguments = [
        "run",
        toy.directory,
        "--seeds",
        "0",
        "--results",
        toy.results,
        "--json",
        *OWN_PYTHON,
    ]
    with (tmp_path / "out.json").open("w") as file:
        status, printed = on_terminal(*arguments, width=24, stdout=file)
    assert status == 0
    assert (tmp_path / "out.json").read_text().startswith("[")
    shown = [
        re.split(r"\r|\x1b", line)[0] for line in printed.splitlines() if line.startswith("  Toy-1")
    ]
    assert "  Toy-1/only/fixed seed" in shown
    assert all(len(line) < 24 for line in shown)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "",
            "list",
            "info",
            "checkout",
            "new",
            "validate",
            "run",
            "study",
            "figures",
            "results",
            "env",
            "versions",
            "why",
        ),
        *("detectors", "evaluate", "scores", "completion"),
    ],
)
def test_help_fits_80_columns(cli, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = cli(*([command] if command else []), "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80


def test_a_table_with_notes_fits_the_terminal():
    status, printed = on_terminal("watch", "--list", width=60)
    lines = printed.splitlines()
    assert status == 0
    assert max(map(len, lines)) <= 60
    notes = [line for line in lines[1:] if line.startswith("    ")]
    assert len(notes) > 1
    assert "Between two steps of an optimizer" in printed
