"""The index of a results folder: it saves reading, and whatever befalls it, the answer is that of
the files.
"""

import errno
import json
import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pandas as pd
import pytest
from support.copies import replace
from support.paths import ROOT
from support.records import RECORD
from support.toy import toy_config

import trainbugs
from runner.results import folder_index
from runner.results.export import frame, write_csv
from runner.results.record import RunRecord, read_record
from runner.results.runtime_identity import RuntimeIdentity
from runner.results.store import Store

BROKEN = ["", "{", "[]", '{"schema": 1}', "[" * 100_000, "\0", '{"schema": 99}']
SLASH = '{"runs": [{"variant": "a/b", "seed": 0, "key": "0"}]}'


@pytest.fixture
def store(tmp_path):
    """A results folder with three records."""
    store = Store(tmp_path / "results")
    for seed in range(3):
        store.save(replace(RECORD, seed=seed, key=str(seed) * 64))
    return store


def look(store, bugs=()):
    """What is found, and the names of the files that were read for it."""
    files_read = []

    def counting(path):
        files_read.append(path.name)
        return read_record(path)

    return folder_index.find(store.root, bugs, counting), files_read


def rows_of_files(store):
    """The rows as they are without any index."""
    had_index = (
        (store.root / folder_index.INDEX).rename(store.root / "kept")
        if (store.root / folder_index.INDEX).is_file()
        else None
    )
    rows = look(store)[0].rows
    (store.root / folder_index.INDEX).unlink()
    if had_index:
        had_index.rename(store.root / folder_index.INDEX)
    return rows


def paths(store):
    return sorted(store.root.rglob("*-seed*.json"))


def lines(store):
    return [line for line in (store.root / folder_index.INDEX).read_bytes().split(b"\n") if line]


def test_what_was_saved_is_not_read_again(store):
    listing, files_read = look(store)
    assert files_read == []
    assert [row.seed for row in listing.rows] == [0, 1, 2]
    assert len(listing) == 3
    assert listing.rows == rows_of_files(store)
    assert (
        [record.seed for record in listing] == [0, 1, 2] == [record.seed for record in listing]
    ), "as often as one likes"


def test_columns_are_fields_of_a_record():
    assert set(folder_index.RECORD_COLUMNS) <= set(RunRecord.__struct_fields__)
    assert set(folder_index.RUNTIME_COLUMNS) <= set(RuntimeIdentity.__struct_fields__)


def test_what_the_index_lacks_is_read_once(store):
    (store.root / folder_index.INDEX).unlink()
    assert len(look(store)[1]) == 3
    assert look(store)[1] == []
    assert len(lines(store)) == 3


def test_the_oldest_comes_first(store):
    store.save(replace(RECORD, key="a" * 64, seed=7, started="2025-01-01T00:00:00.000+00:00"))
    assert [row.seed for row in look(store)[0].rows] == [7, 0, 1, 2]


def test_only_the_named_bugs(store):
    store.save(replace(RECORD, bug="Toy-2"))
    assert {row.bug for row in look(store, ["Toy-2", "Toy-2", "Toy-3"])[0].rows} == {"Toy-2"}
    assert len(look(store)[0]) == 4
    assert len(look(store, ["Toy-1"])[0]) == 3


@pytest.mark.parametrize("bytes_kept", [0, 1, 9, 50, 200, -1, -2, -30])
def test_an_index_that_was_cut_off(store, bytes_kept):
    text = (store.root / folder_index.INDEX).read_bytes()
    (store.root / folder_index.INDEX).write_bytes(text[:bytes_kept])
    store.save(replace(RECORD, seed=3, key="3" * 64))
    listing, files_read = look(store)
    assert listing.rows == rows_of_files(store)
    assert len(files_read) <= 3
    assert not [name for name in files_read if "seed3" in name]


@pytest.mark.parametrize(
    "text",
    [
        b"[]\n",
        b"00000000 [1,2]\n",
        b'{"path": "x"}\n',
        b"\xff\xfe\0" * 1000,
        b"\n" * 1000,
        b"[" * 100_000,
    ],
)
def test_a_foreign_index(store, text):
    (store.root / folder_index.INDEX).write_bytes(text)
    assert len(look(store)[0]) == 3
    assert look(store)[1] == []


def test_a_line_that_somebody_has_edited_or_that_another_version_wrote(store, monkeypatch):
    text = (store.root / folder_index.INDEX).read_bytes()
    (store.root / folder_index.INDEX).write_bytes(text.replace(b'"ok"', b'"no"'))
    listing, files_read = look(store)
    assert {row.status for row in listing.rows} == {"ok"}
    assert len(files_read) == 3
    monkeypatch.setattr(folder_index, "SEED", 1)
    assert len(look(store)[1]) == 3


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_an_index_that_is_no_file(store, make):
    (store.root / folder_index.INDEX).unlink()
    make(store.root / folder_index.INDEX)
    store.save(replace(RECORD, seed=3, key="3" * 64))
    assert len(look(store)[0]) == 4


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing"])
def test_an_index_that_is_a_link_is_neither_read_nor_written(store, tmp_path, there):
    victim = tmp_path / "bashrc"
    if there:
        victim.write_bytes((store.root / folder_index.INDEX).read_bytes())
    before = victim.read_bytes() if there else None
    (store.root / folder_index.INDEX).unlink()
    (store.root / folder_index.INDEX).symlink_to(victim)
    listing, files_read = look(store)
    assert len(listing) == len(files_read) == 3
    store.save(replace(RECORD, seed=3, key="3" * 64))
    assert len(look(store)[0]) == 4
    assert (victim.read_bytes() if victim.exists() else None) == before


def test_the_rows_of_a_long_index_do_not_replace_what_a_link_leads_to(store, tmp_path, monkeypatch):
    monkeypatch.setattr(folder_index, "SPARE", -100)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (store.root / folder_index.INDEX).unlink()
    (store.root / folder_index.INDEX).symlink_to(victim)
    look(store)
    assert victim.read_text() == "precious"


def test_a_folder_in_which_nothing_can_be_written(store, monkeypatch):
    (store.root / folder_index.INDEX).unlink()

    def read_only(path, flags, *mode, open=os.open):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return open(path, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    assert len(look(store)[0]) == 3
    assert not (store.root / folder_index.INDEX).exists()


def test_files_that_were_edited_replaced_removed_or_added_by_hand(store):
    edited, replaced, removed = paths(store)
    edited.write_text(edited.read_text().replace('"ok"', '"timeout"'))
    state = replaced.stat()
    other = replaced.with_name("other")
    other.write_text(replaced.read_text().replace("1.25", "9.25"))
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns - 10**15))
    other.replace(replaced)
    assert other != replaced, "the size tells nothing, and it is older"
    assert replaced.stat().st_size == state.st_size, "the size tells nothing, and it is older"
    removed.unlink()
    added = store.root / "deep" / "down" / edited.name
    added.parent.mkdir(parents=True)
    added.write_text(json.dumps(json.loads(edited.read_text()) | {"seed": 5}))
    listing, files_read = look(store)
    table = [(row.seed, row.status, row.wall_s) for row in listing.rows]
    assert table == [(0, "timeout", 1.25), (1, "ok", 9.25), (5, "timeout", 1.25)]
    assert len(files_read) == 3
    assert listing.rows == rows_of_files(store)
    assert look(store)[1] == []


def test_neither_the_size_nor_the_time_is_enough(store):
    path = paths(store)[0]
    state, text = path.stat(), path.read_text()
    path.write_text(text.replace('"ok"', '"crashed"'))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert look(store)[0].rows[0].status == "crashed"
    path.write_text(text.replace('"ok"', '"killed" '))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert look(store)[0].rows[0].status == "killed"


def test_a_file_that_changes_while_it_is_read_is_not_remembered(store):
    path = paths(store)[0]
    path.write_text(path.read_text() + "\n")

    def late(file):
        record = read_record(file)
        file.write_text(file.read_text() + "\n")
        return record

    before = lines(store)
    assert len(folder_index.find(store.root, (), late)) == 3
    folder_index.append(store.root, path, late)
    assert lines(store) == before
    assert look(store)[1] == [path.name]


SAVE_MANY = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
from runner.results.store import Store
from support.copies import replace
from support.records import RECORD
store = Store(Path(sys.argv[1]))
for seed in range(100):
    store.save(replace(RECORD, variant=sys.argv[2], seed=seed, key=f"{seed:064d}"))
"""


def test_two_programs_write_at_once(store):
    program = SAVE_MANY
    root = ROOT
    programs = [
        subprocess.Popen([sys.executable, "-c", program, store.root, variant], cwd=root)
        for variant in ("buggy", "fixed")
    ]
    stop = threading.Event()
    reader = threading.Thread(target=lambda: [look(store) for _ in iter(stop.is_set, True)])
    reader.start()
    assert [program.wait() for program in programs] == [0, 0]
    stop.set()
    reader.join()
    listing, files_read = look(store)
    # One of them has the name of the first one of `store`.
    assert len(listing) == 202
    assert listing.problems == []
    assert files_read == []


def test_an_index_far_longer_than_its_records_is_written_anew(store, monkeypatch):
    monkeypatch.setattr(folder_index, "SPARE", 3)
    for _ in range(7):
        store.save(replace(RECORD, key="0" * 64))
    assert len(lines(store)) == 10
    look(store, ["Toy-1"])
    assert len(lines(store)) == 10, "of the others nothing is known"
    look(store)
    assert len(lines(store)) == 3
    assert look(store)[1] == []


def test_an_interrupted_first_look_is_not_lost(store, monkeypatch):
    (store.root / folder_index.INDEX).unlink()
    monkeypatch.setattr(folder_index, "BATCH", 1)

    def interrupted(path):
        if "seed2" in path.name:
            raise KeyboardInterrupt
        return read_record(path)

    with pytest.raises(KeyboardInterrupt):
        folder_index.find(store.root, (), interrupted)
    assert len(look(store)[1]) == 1


def test_texts_are_kept_once(store):
    for listing in (look(store)[0], look(store, ["Toy-1"])[0]):
        assert len({id(row.environment) for row in listing.rows}) == 1


def test_logs_and_hidden_folders_hold_no_records(store):
    for name in (
        "Toy-1/only/logs/x-seed0-1.json",
        ".unfinished-1/x-seed0-1.json",
        "Toy-1/only/._x-seed0-1.json",
    ):
        (store.root / name).parent.mkdir(exist_ok=True)
        (store.root / name).write_text("{")
    assert look(store)[0].problems == []
    case = store.save(replace(RECORD, bug="Toy-2", case="logs"))
    assert case.parent.name == "logs", "a case may have that name"
    assert len(look(store)[0]) == 4, "a case may have that name"


def test_what_is_no_file_is_named(store):
    os.mkfifo(store.root / "x-seed0-1.json")
    (store.root / "x-seed1-1.json").symlink_to("nothing")
    (store.root / "x-seed2-1.json").mkdir()
    listing = look(store)[0]
    assert len(listing) == 3
    assert len(listing.problems) == 2
    assert all("not a run record: is no plain file" in problem for problem in listing.problems)


def test_a_number_that_cannot_be_is_a_broken_record(store):
    path = paths(store)[0]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"wall_s": 10**400}))
    listing = look(store)[0]
    assert len(listing) == 2
    assert "not a run record" in listing.problems[0]


def test_broken_files_do_not_cost_the_rest(cli, store):
    for number, text in enumerate(BROKEN):
        (store.root / f"x-seed{number}-1.json").write_text(text)
    status, out, err = cli("results")
    assert status == 2
    assert len(out.splitlines()) == 4
    assert len(err.splitlines()) == len(BROKEN)
    assert all(
        line.startswith("trainbugs: results/x-seed") and "not a run record" in line
        for line in err.splitlines()
    )
    status, out, again = cli("results", "--csv", "-")
    assert (status, again) == (2, err)
    assert len(out.splitlines()) == 4
    for number in range(20):
        (store.root / f"y-seed{number}-1.json").write_text("{")
    status, out, err = cli("results")
    assert status == 2
    assert len(out.splitlines()) == 4
    assert len(err.splitlines()) == 11
    assert err.splitlines()[-1] == f"trainbugs: {len(BROKEN) + 10} more files cannot be read"
    with pytest.warns(UserWarning, match="not a run record"):
        assert len(trainbugs.records("results", folder=store.root)) == 3


def test_nothing_but_broken_files(cli, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "x-seed0-1.json").write_text("{")
    status, out, err = cli("results")
    assert (status, out) == (2, "")
    assert "not a run record: not JSON" in err
    assert len(err.splitlines()) == 1


def test_a_repeat_is_told_beside_its_seed(cli, store):
    store.save(replace(RECORD, repeat=2, started="2026-11-22T11:00:00.000+00:00"))
    table = cli("results")[1].splitlines()
    assert [re.split(" {2,}", line)[1] for line in table] == ["SEED", "0", "1", "2", "0 (2)"]


def test_results_import_nothing_heavy(store):
    program = (
        "import sys; from trainbugs.cli.main import main; main(['results', '--results', "
        f"{str(store.root)!r}])\nprint({{'pandas', 'numpy', 'matplotlib', "
        "'runner.session.session'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"
    assert len(done.stdout.splitlines()) == 5


def test_csv_is_the_table(store, tmp_path):
    odd = (
        {"loss": "NaN", "text": 'a "b"\n, c'},
        {"loss": "-Infinity", "list": [1, 2]},
        {"loss": 1e-17, "none": None},
    )
    store.save(
        replace(
            RECORD, bug="Toy-2", metrics=odd, parameters={"rate": 0.1, "name": "ü"}, torch="2.2.2"
        )
    )
    store.save(
        replace(RECORD, bug="Toy-3", metrics=(), status="crashed", reason="RuntimeError: late")
    )
    write_csv(store.records(), str(tmp_path / "all.csv"))
    table = pd.read_csv(tmp_path / "all.csv", dtype={"key": str})
    framed = frame(store.records())
    framed["record"] = framed["record"].astype(float)
    empty = [name for name in framed if framed[name].isna().all()]
    pd.testing.assert_frame_equal(
        table.drop(columns=empty), framed.drop(columns=empty), check_dtype=False
    )
    assert list(table) == list(framed)
    assert table["bug"].value_counts().to_dict() == {"Toy-1": 3, "Toy-2": 3, "Toy-3": 1}, (
        "also a run without records"
    )


def test_csv_moves_no_cursor_of_a_terminal(cli, store, monkeypatch, tmp_path):
    store.save(replace(RECORD, bug="Toy-2", metrics=({"text\x1b[1A": "\x1b[2J\ttab"},)))
    assert "\x1b[2J\ttab" in cli("results", "--csv", "-")[1], "another program gets what is there"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = cli("results", "--csv", "-")[1]
    assert "\\x1b[2J\ttab" in out
    assert "metric.text\\x1b[1A" in out
    assert "\x1b" not in out
    assert out.count("\n") == 5


def test_csv_holds_one_record_at_a_time(store, tmp_path):
    alive, most = set(), []

    def watched(path):
        record = read_record(path)
        alive.add(path)
        weakref.finalize(record, alive.discard, path)
        most.append(len(alive))
        return record

    write_csv(folder_index.find(store.root, (), watched), str(tmp_path / "all.csv"))
    assert max(most) <= 2, "the next one is read before the last one is let go"
    assert len(most) == 6, "the next one is read before the last one is let go"


def test_a_record_that_gets_another_column_or_goes_while_a_csv_is_written(cli, store, monkeypatch):
    def changing(path):
        record = read_record(path)
        path.write_text(
            json.dumps(json.loads(path.read_text()) | {"metrics": [{str(os.urandom(9)): 1}]})
        )
        return record

    monkeypatch.setattr("runner.results.store.read_record", changing)
    status, _, err = cli("results", "--csv", "all.csv")
    assert status == 2
    assert "have changed while they were read; run the same command again" in err


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        '{"runs": []}',
        '{"runs": [1]}',
        "[" * 100_000,
        '{"runs": "ab"}',
        SLASH,
        "RECORD",
        "GONE",
    ],
)
def test_figures_of_the_other_cases_are_drawn(cli, toy, text):
    cases = toy_config()["cases"]
    toy.configure(cases=cases | {"other": cases["only"]})
    assert cli("run", "Toy-1", "--seeds", "0", "--python", sys.executable)[0] == 0
    verdict = Path("results/Toy-1/only/verdict.json")
    if text in ("RECORD", "GONE"):
        record = next(verdict.parent.glob("buggy-*.json"))
        record.unlink() if text == "GONE" else record.write_text("{")
    else:
        verdict.write_text(text)
    status, out, err = cli("figures", "--from", "results", "--format", "svg")
    assert status == 2
    assert "figures: 3 files in figures/Toy-1\n" in out
    assert {path.name for path in Path("figures/Toy-1").iterdir()} == {
        f"{kind}_other.svg" for kind in ("origin", "fix", "compare")
    }
    assert len(err.splitlines()) == 1
    assert "results/Toy-1/only/" in err
    assert "not a " in err
