"""Whatever is typed, the program ends with a status of its own,
and says in lines that can be read what is wrong.

Commands and options are those that the parser has; `test_fuzz.py` tells how to try more.
"""

import argparse
import os
import shutil
import socket
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.fuzzing import HIDDEN_TEXTS, MARKS, opened, variants

from trainbugs.cli.root_parser import COMMANDS, build_parser

pytestmark = MARKS

NAMES = list(COMMANDS)
# Bytes of a command line that are no UTF-8 arrive as halves of characters; a zero byte cannot
# arrive.
WORDS = [
    *HIDDEN_TEXTS,
    *(
        "\udcff",
        "a\udce4b",
        "\U0001f600",
        "e\u0301",
        "\u0663",
        "\u00b2",
        "x" * 5_000,
        "x" * 200_000,
        "1" * 5_000,
    ),
    *(
        "",
        " ",
        "-",
        "--",
        "---",
        "-1",
        "--x",
        "-x",
        "--=",
        "-j",
        "-qq",
        "=",
        "a=b",
        "@plain",
        "~",
        "*",
        "%s",
        "%(prog)s",
    ),
    *(
        "{}",
        "{0}",
        "$HOME",
        "`id`",
        ";",
        "a,b",
        "[x]",
        ".",
        "..",
        "../x",
        "../..",
        "./",
        "//",
        "/",
        "Toy-1/..",
        "a/b/c/d",
    ),
]
NUMBERS = [
    *(
        "0",
        "1",
        "2",
        "-0",
        "-1",
        "1.5",
        "1e400",
        "1e-400",
        "nan",
        "inf",
        "-inf",
        "1_0",
        "0x1",
        " 1 ",
        "+1",
        "1,1",
        "0,1",
    ),
    *("1,", ",", "9" * 20, "9" * 400, "9" * 5_000, "\u0663", "\u00b2", "1\n", "1\udcff"),
]
TOYS = [
    "Toy-1",
    "Toy-1/only",
    "Toy-1/only/buggy",
    "Toy-1/only/x",
    "Toy-1/x",
    "toy-1",
    "toy",
    "none",
    "only",
]
# In the working directory; `lay_traps` makes them.
TRAPS = [
    *(
        "plain",
        "folder",
        "pipe",
        "loop",
        "circle",
        "circle/circle/circle",
        "endless",
        "dangling",
        "closed",
        "sealed",
    ),
    *(
        "socket",
        "odd\x1b[2J\n\udcff",
        "bugs/pipe",
        "bugs/folder",
        "bugs/loop",
        "bugs/list",
        "plain/x",
        "pipe/x",
        "loop/x",
    ),
    *(
        "x" * 300,
        "x/" * 2_500,
        "new",
        "new/folder",
        "new.json",
        "new.png",
        "new.html",
        "new.svg",
        "n\x1bw",
        "n\udcffw",
    ),
]
EXECUTORS = [
    "slurm",
    "dask:",
    "dask:plain",
    "dask:pipe",
    "dask:loop",
    "dask:x:y",
    "dask:\x1b:1",
    "local",
]
PATHS = ("DIR", "FILE", "PATH", "DIR|FILE", "SCRIPT.py")
# It replaces files of the catalogue: that is what it is for.
LEFT_OUT = {"--update-expected"}


def lay_traps(folder):
    """Fill the working directory anew with what is no plain file where one is expected,
    and the like.
    """
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name in (
        "folder",
        "sealed",
        "bugs/folder/config.json",
        "bugs/pipe",
        "bugs/loop",
        "bugs/list",
    ):
        (folder / name).mkdir(parents=True)
    (folder / "plain").write_text("text\n")
    (folder / "odd\x1b[2J\n\udcff").write_text("text\n")
    (folder / "closed").write_text("text\n")
    (folder / "bugs" / "list" / "config.json").write_text("[]")
    for pipe in ("pipe", "bugs/pipe/config.json"):
        os.mkfifo(folder / pipe)
    for link, target in (
        ("loop", "loop"),
        ("circle", "."),
        ("endless", "/dev/zero"),
        ("dangling", "nothing"),
    ):
        (folder / link).symlink_to(target)
    (folder / "bugs" / "loop" / "config.json").symlink_to("config.json")
    with socket.socket(socket.AF_UNIX) as end:
        # The address of a socket is short.
        before = os.open(".", os.O_RDONLY)
        os.chdir(folder)
        end.bind("socket")
        os.fchdir(before)
        os.close(before)
    for name in ("closed", "sealed"):
        (folder / name).chmod(0)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fuzz")) as opened_bench:
        yield opened_bench


def subcommand(name):
    groups = [
        action
        for action in build_parser(name)._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return groups[0].choices[name]


def typed(action):
    """What may stand for an argument, good and bad."""
    if action.choices:
        return st.sampled_from(list(action.choices)) | st.sampled_from(WORDS)
    if action.metavar in PATHS:
        python = [sys.executable] if action.dest == "python" else []
        return st.sampled_from([*TRAPS, *TRAPS, *python, *HIDDEN_TEXTS, "\udcff", ""])
    if action.metavar == "WHERE":
        return st.sampled_from(EXECUTORS)
    kinds = (
        st.sampled_from(WORDS)
        | st.sampled_from(TRAPS)
        | st.sampled_from(TOYS)
        | st.text(max_size=5)
    )
    numbers = st.sampled_from(NUMBERS)
    return kinds | numbers if action.type in (None, str) else numbers | numbers | kinds


@st.composite
def command_lines(draw):
    """A command with options and names, in the order of the parser or in another one,
    at times with a word more.
    """
    name = draw(st.sampled_from(NAMES))
    actions = [
        action for action in subcommand(name)._actions if not LEFT_OUT & set(action.option_strings)
    ]
    options = [action for action in actions if action.option_strings and action.dest != "help"]
    words = []
    for action in (
        draw(st.lists(st.sampled_from(options), max_size=3, unique_by=id)) if options else []
    ):
        flag = draw(st.sampled_from(action.option_strings))
        if action.nargs == 0:
            words.append([flag])
        elif flag.startswith("--") and draw(st.booleans()):
            words.append([f"{flag}={draw(typed(action))}"])
        else:
            words.append(
                [
                    flag,
                    *draw(st.lists(typed(action), min_size=1, max_size=2 if action.nargs else 1)),
                ]
            )
    for action in [action for action in actions if not action.option_strings]:
        fewest = 0 if action.nargs == "*" else 1
        words.append(
            draw(st.lists(typed(action), min_size=fewest, max_size=2 if action.nargs else 1))
        )
    if draw(st.booleans()):
        words = draw(st.permutations(words))
    if draw(st.integers(0, 3)) == 0:
        words.insert(
            draw(st.integers(0, len(words))), [draw(st.sampled_from([*WORDS, *NUMBERS, *TRAPS]))]
        )
    line = [name, *(word for part in words for word in part)]
    # A zero byte ends a word of a command line.
    return [word.replace("\0", "") for word in line]


@given(words=command_lines())
@example(words=["list", "\x1b[2J"])
@example(words=["info", "\u200b\ufeff"])
@example(words=["results", "--results", "n\x1bw\u200b"])
@example(
    words=["run", "Toy-1", "--python", sys.executable, "--results", "n\x1b[2Jw", "--seeds", "0"]
)
@example(words=["figures", "Toy-1", "--out", "n\u200bw\udcff"])
@example(words=["list", "x" * 5_000])
@variants(60)
def test_command_line(bench, words):
    lay_traps(bench.here)
    bench.call(*words)


@given(words=st.lists(st.sampled_from([*WORDS, *NUMBERS, *NAMES, "-V", "-h"]), max_size=3))
@example(words=["\x1b[2J"])
@example(words=["list", "--x\n\u202e"])
@example(words=["x" * 200_000])
@variants(40)
def test_words(bench, words):
    """Without a command, or with several."""
    lay_traps(bench.here)
    bench.call(*words)
