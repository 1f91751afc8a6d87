"""Hostile variants of files and command lines,
and a catalogue of toys on which the program meets them.

TRAINBUGS_FUZZ is the number of examples of each kind, TRAINBUGS_FUZZ_SEED chooses them; both have
defaults, by which two runs of the tests try the same examples.
"""

import contextlib
import copy
import io
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO
from unicodedata import category

import hypothesis.configuration
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from support.toy import Toy
from trainbugs import api
from trainbugs.cli.main import main

# Nothing is written into the checkout.
hypothesis.configuration.set_hypothesis_home_dir(
    Path(tempfile.gettempdir(), "trainbugs-hypothesis")
)
settings.register_profile(
    "fuzz",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
# What is drawn is odd: glyphs that the font lacks, values at which an axis overflows. That is said,
# and no error.
MARKS = [
    pytest.mark.stress,
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning"),
]

# Seconds in which a command ends; the longest takes a second or two on an idle machine.
PATIENCE_S = 60
LONGEST_LINE = 2_000
# Control and format characters, and halves of characters.
HIDDEN = {"Cc", "Cf", "Cs"}
# A run that has ended.
PROGRESS = re.compile(r"\[\d+/\d+\] ")
HIDDEN_TEXTS = (
    "\x1b[2J",
    "a\nb",
    "a\rb",
    "\x9b31m",
    "\u202ex",
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\U000e0041",
)

INTEGERS = (0, -1, 1, 2**63, 10**30, 10**400, -(10**400))
FLOATS = (1.0, 1.5, 1e308, 1e-320, float("nan"), float("inf"))
TEXTS = ("", "x", "..", "../x", "/etc/passwd", "a\0b", "\ud800", "$x_{$", "x" * 2_000)
WORDS = ("NaN", "$\\frac$", "buggy", "fixed", "only", "epoch", "accuracy")
CONTAINERS = ([], {}, [[]], {"": 0}, [0, 0])
TRAPS = [
    *(None, True, False),
    *INTEGERS,
    *FLOATS,
    *TEXTS,
    *HIDDEN_TEXTS,
    *WORDS,
    *CONTAINERS,
]
KEYS_TEXT = "where minus minus_where seeds data heatmap needs status x"
KEYS = (*KEYS_TEXT.split(), *HIDDEN_TEXTS)

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def variants(examples: int) -> Decorator:
    """Settings for a test: that many examples, or as many as TRAINBUGS_FUZZ says,
    by the seed of the environment.
    """
    number = int(os.environ.get("TRAINBUGS_FUZZ", examples))
    profile = settings(settings.get_profile("fuzz"), max_examples=number)
    seed = os.environ.get("TRAINBUGS_FUZZ_SEED")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        if seed:
            test = seeded(int(seed))(test)
        return profile(test)

    return decorate


values = st.sampled_from(TRAPS) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a value of JSON."""
    parts: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    if isinstance(value, list):
        parts = list(enumerate(value))
    for key, part in parts:
        yield value, key
        yield from places(part)


@st.composite
def spoiled(draw, text: str) -> bytes:
    """The JSON `text` with values replaced, removed and added."""
    value = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(value)) or [([0], 0)]))
        change = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        # A copy: what is put in may be spoiled itself in the next round.
        new = copy.deepcopy(draw(values))
        if change == "remove":
            del container[key]
        elif change == "replace":
            container[key] = new
        elif isinstance(container, list):
            container.insert(key, new)
        else:
            container[draw(st.sampled_from(KEYS))] = new
    return json.dumps(value).encode()


@st.composite
def torn(draw, text: str) -> bytes:
    """`text` with some bytes changed, cut off at some place, or with a piece of it twice."""
    data = bytearray(text.encode())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        change = draw(st.sampled_from(["byte", "cut", "twice", "hidden"]))
        if change == "cut":
            del data[place:]
        elif change == "twice":
            data[place:place] = data[place : place + draw(st.integers(1, 60))]
        elif change == "hidden":
            data[place:place] = draw(st.sampled_from(HIDDEN_TEXTS)).encode()
        else:
            data[place : place + 1] = draw(st.binary(min_size=1, max_size=2))
    return bytes(data)


def broken(text: str) -> st.SearchStrategy[bytes]:
    """The JSON `text`, spoiled or torn."""
    return spoiled(text) | spoiled(text) | torn(text)


@st.composite
def broken_lines(draw, text: str) -> bytes:
    """JSON, a value a line, with one line spoiled, left out or there twice; or the whole torn."""
    if draw(st.integers(0, 4)) == 0:
        return draw(torn(text))
    lines = [line.encode() for line in text.splitlines()]
    place = draw(st.integers(0, len(lines) - 1))
    change = draw(st.sampled_from(["spoil", "spoil", "remove", "twice"]))
    if change == "spoil":
        lines[place] = draw(spoiled(lines[place].decode()))
    elif change == "remove":
        del lines[place]
    else:
        lines.insert(place, lines[place])
    return b"".join(line + b"\n" for line in lines)


def hidden_in(text: str) -> set[str]:
    """The control and format characters in a text of lines, in which tabs may be."""
    return {character for character in set(text) - {"\n", "\t"} if category(character) in HIDDEN}


def tree(root: Path, left_out: tuple[Path, ...] = ()) -> dict[str, tuple[int, ...]]:
    """What lies below a folder, with kinds, sizes and times of change;
    nothing of the folders that are left out.
    """
    entries: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if Path(folder, name) not in left_out]
        for name in (*folders, *files):
            path = Path(folder, name)
            status = path.lstat()
            entry: tuple[int, ...] = (status.st_mode, status.st_size, status.st_mtime_ns)
            if path.is_dir() and not path.is_symlink():
                # The time of a folder changes with what is written beside it for a moment.
                entry = (status.st_mode,)
            entries[os.fsencode(path).decode("latin1")] = entry
    return entries


class Bench:
    """A toy catalogue with expected records and results, whose files are spoiled and mended.

    The program may write to `here`, the working directory, to `out` and to the results; nowhere
    else.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.toy = Toy(root / "catalogue")
        self.toy.write("why.py", "")
        self.toy.results = root / "results"
        self.out, self.here = root / "out", root / "here"
        for folder in (self.here, root / "home", root / "tmp"):
            folder.mkdir()
        self._outcome = self.toy.run(seeds=(0,))
        self.record = next(self.toy.results.rglob("buggy-seed0-*.json"))
        self.verdict = self.record.with_name("verdict.json")
        self.expected = self.toy.directory / "expected" / "only" / "buggy-seed0.json"
        self.mapped = (
            self.toy.directory / "expected" / "versions" / "own" / "only" / "buggy-seed0.json"
        )
        self._expect()
        self.writable = (self.out, self.here, self.toy.results)

    def _expect(self) -> None:
        for path in (self.expected, self.expected.with_name("fixed-seed0.json"), self.mapped):
            path.parent.mkdir(parents=True, exist_ok=True)
        folder = self.toy.results / "Toy-1" / "only"
        for record in self._outcome.records:
            source = folder / f"{record.variant}-seed0-{record.key[:12]}.json"
            shutil.copy(source, self.expected.with_name(f"{record.variant}-seed0.json"))
        shutil.copy(self.expected, self.mapped)

    @contextlib.contextmanager
    def spoil(self, path: Path, data: bytes) -> Iterator[None]:
        before = path.read_bytes()
        path.write_bytes(data)
        try:
            yield
        finally:
            path.write_bytes(before)

    def call(self, *arguments: object) -> int:
        """Call the program; it ends in time, with a status of its own, and says little,
        all of it visible.
        """
        words = [str(argument) for argument in arguments]
        before = tree(self.root, self.writable)
        status, output, errors = _call(words)
        lines = errors.splitlines()
        assert status in (0, 1, 2), words
        assert status < 2 or errors or output, words
        assert "Traceback" not in errors, errors
        assert len([line for line in lines if not PROGRESS.match(line)]) <= 3, errors
        assert all(len(line) < LONGEST_LINE for line in lines), errors
        assert not hidden_in(errors), words
        # A pipe gets a CSV as it is: that is data.
        assert "--csv" in words or not hidden_in(output), words
        changed = tree(self.root, self.writable).items() ^ before.items()
        assert not changed, (words, changed)
        return status


def _call(words: list[str]) -> tuple[int, str, str]:
    """The status of the program, and what it has written on standard output and standard error."""
    with tempfile.TemporaryFile(buffering=0) as out, tempfile.TemporaryFile(buffering=0) as err:
        # What the program discards is written to nowhere by the same number; these are others.
        out_reader, err_reader = _reader(out), _reader(err)
        with (
            contextlib.redirect_stdout(_text_stream(out)),
            contextlib.redirect_stderr(_text_stream(err)),
            _in_time(words),
        ):
            status = main(words)
        return status, _whole(out_reader), _whole(err_reader)


def _reader(file: IO[bytes]) -> BinaryIO:
    return os.fdopen(os.dup(file.fileno()), "rb")


def _text_stream(file: IO[bytes]) -> io.TextIOWrapper:
    return io.TextIOWrapper(file, encoding="utf-8", write_through=True)


def _whole(reader: BinaryIO) -> str:
    with reader:
        reader.seek(0)
        return reader.read().decode()


@contextlib.contextmanager
def _in_time(words: list[str]) -> Iterator[None]:
    def end(*_: object) -> None:
        raise AssertionError(f"does not end within {PATIENCE_S} s: {words}")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def opened(root: Path) -> Iterator[Bench]:
    """A bench in the folder `root`; its catalogue is that of the program,
    its folder `here` the working directory.
    """
    bench = Bench(root)
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "load", lambda: bench.toy.catalog)
        patch.setattr(tempfile, "tempdir", str(root / "tmp"))
        patch.setenv("HOME", str(root / "home"))
        # Matplotlib's own cache of fonts.
        patch.setenv("MPLCONFIGDIR", str(bench.out / "matplotlib"))
        patch.chdir(bench.here)
        yield bench
        assert Path.cwd() == bench.here
    assert Path.cwd() == before
