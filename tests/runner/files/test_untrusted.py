"""A bug directory or a results folder from a stranger is refused with one line, whatever is in
it.
"""

import json
import os
import shutil
import signal
import socket
from pathlib import Path

import pytest
from support.checks import overhead
from support.checks import record as check
from support.paths import ROOT
from support.toy import toy_config

from evaluation.store.results import CheckStore
from runner.authoring.validate import problems
from runner.bugs.catalog import load_bug
from runner.errors import CatalogError, MeasureError, ResultsError
from runner.execution.key import read_scripts
from runner.expectations.reductions import reduce
from runner.files import untrusted
from runner.results.record import read_record
from runner.results.store import Store
from runner.session.promote import promote_runs

pytestmark = pytest.mark.stress
COMMANDS = (
    ("run", "--environment", "toy"),
    ("validate",),
    ("info",),
    ("info", "--json"),
    ("figures",),
    ("why",),
    ("run", "--python", "/bin/false"),
)


@pytest.fixture
def stranger(toy, tmp_path):
    """The toy bug in a directory of its own, outside of the catalogue."""
    directory = tmp_path / "stranger"
    shutil.copytree(toy.directory, directory)
    toy.directory = directory
    return toy


@pytest.fixture(autouse=True)
def in_time():
    """Nothing waits for ever: a pipe that nobody writes to would be waited for."""

    def late(number, frame):
        raise TimeoutError("the program waits for something that never comes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(cli, stranger, *words):
    """Every command refuses the directory with one line that holds the words; returns the line."""
    for name, *options in (*COMMANDS, ("checkout",)):
        arguments = [name, stranger.directory, *options, *(["copy"] if name == "checkout" else [])]
        status, out, err = cli(*arguments)
        lines = (err if name != "validate" else out.partition("\n")[2]).splitlines()
        assert status == (1 if name == "validate" else 2), (name, out, err)
        assert len(lines) == 1, (name, lines)
        assert len(lines[0]) < 1000, (name, lines)
        assert lines[0].isprintable(), (name, lines)
        assert all(word in lines[0] for word in words), (name, lines)
        assert not (stranger.root.parent / "copy").exists()


def replace(path, make):
    path.unlink(missing_ok=True)
    make(path)


def a_socket(path):
    # A name of a socket is short; the folder of a test is not.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


def sparse(path):
    with path.open("wb") as file:
        file.truncate(20_000_000_000)


KINDS = {
    "a pipe": (os.mkfifo, "is no plain file"),
    "a socket": (a_socket, "is no plain file"),
    "a folder": (os.mkdir, "is no plain file"),
    "a device": (
        lambda path: path.symlink_to("/dev/zero"),
        "is a link that leads out of its directory, to /dev/zero",
    ),
    "a link out": (
        lambda path: path.symlink_to("/etc/passwd"),
        "leads out of its directory, to /etc/passwd",
    ),
    "a link up": (
        lambda path: path.symlink_to("../catalogue/bugs/Toy-1/buggy.py"),
        "leads out of its directory",
    ),
    "a dangling link": (lambda path: path.symlink_to("nothing"), "cannot be read: No such file"),
    "a loop": (
        lambda path: path.symlink_to(path.name),
        "cannot be read: Too many levels of symbolic links",
    ),
    "huge": (sparse, "is larger than 1000000 bytes"),
}


@pytest.mark.parametrize(
    "name", ["config.json", "buggy.py", "helper.py", "README.md", "fault.py", "why.py"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_plain_file(cli, stranger, name, kind):
    make, words = KINDS[kind]
    replace(stranger.directory / name, make)
    refused(cli, stranger, str(stranger.directory), name, words)


@pytest.mark.parametrize(
    "kind", ["a pipe", "a socket", "a device", "a link out", "a dangling link", "a loop"]
)
@pytest.mark.parametrize(
    "name", ["expected", "expected/only/buggy-seed0.json", "expected/versions/e/only/x.png"]
)
def test_what_is_no_plain_file_among_the_expected(cli, stranger, name, kind):
    make, words = KINDS[kind]
    (stranger.directory / name).parent.mkdir(parents=True, exist_ok=True)
    make(stranger.directory / name)
    refused(cli, stranger, str(stranger.directory), name, words)


def test_a_folder_of_expected_records_is_no_link(cli, stranger):
    (stranger.directory / "expected").mkdir()
    (stranger.directory / "other").mkdir()
    (stranger.directory / "expected" / "only").symlink_to("../other")
    refused(cli, stranger, "expected/only is no plain file")


def scripts_of_buggy(bug):
    return read_scripts(bug, bug.cases["only"].program.variants["buggy"])


def test_a_link_within_the_directory_is_no_harm(stranger):
    (stranger.directory / "buggy.py").rename(stranger.directory / "real.txt")
    (stranger.directory / "buggy.py").symlink_to("real.txt")
    assert "accuracy" in scripts_of_buggy(load_bug(stranger.directory))["buggy.py"].decode()


def test_a_file_that_is_exchanged_after_the_directory_was_looked_at(stranger):
    bug = load_bug(stranger.directory)
    replace(stranger.directory / "buggy.py", os.mkfifo)
    with pytest.raises(CatalogError, match="buggy.py: is no plain file"):
        scripts_of_buggy(bug)


def test_a_file_that_is_longer_than_its_size():
    """Files of /proc have the size 0."""
    path = Path("/proc/self/status")
    assert path.stat().st_size == 0
    with pytest.raises(untrusted.UnsafeError, match="larger than 10 bytes"):
        untrusted.read_bytes(path, 10)


def test_too_many_files(cli, stranger, monkeypatch):
    monkeypatch.setattr(untrusted, "MAX_SCRIPTS", 3)
    monkeypatch.setattr(untrusted, "MAX_EXPECTED", 3)
    stranger.write("a.py", "")
    assert load_bug(stranger.directory)
    stranger.write("b.py", "")
    refused(cli, stranger, "holds 4 scripts, expected at most 3")
    (stranger.directory / "b.py").unlink()
    for number in range(3):
        stranger.write(f"expected/only/{number}.png", "")
    refused(cli, stranger, "expected holds more than 3 files")


@pytest.mark.parametrize("name", ["two\nlines.py", "\x1b[31mred.py", "\udcff.py"])
def test_a_name_that_moves_the_cursor(cli, stranger, name):
    (stranger.directory / name).write_text("")
    refused(cli, stranger, "has a name that cannot be printed")


def with_value(path, value):
    config = toy_config()
    *parents, last = path
    place = config
    for key in parents:
        place = place[key]
    place[last] = value
    return json.dumps(config)


CASE = ["cases", "only"]


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "..", "a/b", "a\0b", "a\n", "a\nb", ".hidden", "", "x" * 300]
)
@pytest.mark.parametrize(
    "path",
    [
        ["id"],
        ["environment"],
        ["parameters", "output"],
        [*CASE, "parameters"],
        [*CASE, "variants", "buggy", "script"],
        [*CASE, "variants", "buggy", "environment"],
        [*CASE, "data"],
        ["cases", "name"],
    ],
    ids=".".join,
)
def test_a_name_that_leads_elsewhere(cli, stranger, path, name):
    if path[-1] == "script":
        name += ".py"
    value = {"parameters": {"output": name}, "data": [name], "name": name}.get(path[-1], name)
    if path == ["cases", "name"]:
        text = json.dumps(toy_config(cases={name: toy_config()["cases"]["only"]}))
    elif path[-1] == "data" and name == "a/b":
        return  # files of data sets lie in folders
    else:
        text = with_value(path, value)
    stranger.write("config.json", text)
    refused(cli, stranger, "config.json")


def test_the_site_is_no_file_of_the_machine(whole):
    """validate counts the lines of the bug's own scripts and of installed packages only."""
    (whole.directory / "data.bin").write_bytes(b"\xff\xfe")
    for name in ("/etc/passwd", "../../../secret.py"):
        whole.configure(site={"file": name, "line": 10_000, "api": "x"})
        assert problems(whole.directory, whole.root) == []
    whole.configure(site={"file": "data.bin", "line": 10_000, "api": "x"})
    assert problems(whole.directory, whole.root) == [
        "site.file is 'data.bin', no script of the bug, nor a path in a package"
    ]


def changed(**changes):
    return json.dumps(toy_config(**changes))


LONG = "x" * 1_001
PLOT = {"x": "epoch", "panels": [{"label": "l", "lines": [{"label": "l", "metric": "m"}]}]}


@pytest.mark.parametrize(
    "text, words",
    [
        ("[" * 100_000, "nested more than 50 deep"),
        ("[" * 51 + "]" * 51, "nested more than 50 deep"),
        ('{"a":' * 60 + "1" + "}" * 60, "nested more than 50 deep"),
        ('{"seeds": [' + "9" * 100_000 + "]}", "is too large a number"),
        ('{"seeds": [1e400]}', "'1e400' is too large a number"),
        ('{"seeds": [' + "1" * 250 + "e99]}", "is too large a number"),
        ('{"timeout_s": -1e400}', "'-1e400' is too large a number"),
        ('{"timeout_s": Infinity}', "Infinity is no number"),
        ('{"timeout_s": -Infinity}', "-Infinity is no number"),
        ('{"timeout_s": NaN}', "NaN is no number"),
        ('{"id": 1, "x": {"a": 1, "a": 2}}', "the key 'a' is there twice"),
        ('{"title": "\\ud800"}', "half a character"),
        ('{"\\ud800": 1}', "half a character"),
        ("\ufeff{}", "Unexpected UTF-8 BOM"),
        (changed(title="two\nlines"), "no text of one line"),
        (changed(title="\x1b[2J"), "no text of one line"),
        (changed(title="\x9b31m"), "no text of one line"),
        (changed(title="\u202egnihton"), "no text of one line"),
        (changed(title=LONG), "no text of one line"),
        (changed(parameters={"a\n": 1}), "no text of one line"),
        (changed(seeds=list(range(1_001))), "holds a list of 1001 values, expected at most 1000"),
        (changed(volatile=[[{"a": b}] * 900 for b in range(12)]), "holds more than 10000 values"),
        (changed(seeds=[10**30]), "expected a whole number <= 4294967295"),
        (changed(seeds=[2**32]), "expected a whole number <= 4294967295"),
        (changed(timeout_s=1e308), "expected a number <= 604800"),
        (
            changed(cases={"only": toy_config()["cases"]["only"] | {"timeout_s": 10**9}}),
            "expected a number <= 604800",
        ),
        (
            changed(cases={"only": toy_config()["cases"]["only"] | {"seeds": [2**32]}}),
            "expected a whole number <= 4294967295",
        ),
        (changed(cases={f"c{n}": toy_config()["cases"]["only"] for n in range(101)}), "cases: "),
        (changed(x={"k" * 900: 1}), "config.json: "),
        ("null", "expected an object"),
        ("{}" + " " * 1_000_000, "is larger than 1000000 bytes"),
    ],
)
def test_hostile_json(cli, stranger, text, words):
    stranger.write("config.json", text)
    refused(cli, stranger, "config.json", words)


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b'{"id": "\xed\xa0\x80"}', b"\x00", b"{}\x00"])
def test_bytes_that_are_no_json(cli, stranger, data):
    (stranger.directory / "config.json").write_bytes(data)
    refused(cli, stranger, "config.json", "not JSON")


def test_a_seed_is_a_whole_number_even_where_json_says_1_0(stranger):
    stranger.configure(seeds=[0.0, 1.0])
    assert [str(seed) for seed in load_bug(stranger.directory).cases["only"].program.seeds] == [
        "0",
        "1",
    ]


@pytest.fixture
def whole(toy, toy_environment):
    """The toy bug with expected records and all."""
    from support.records import as_pinned

    promote_runs([as_pinned(toy.run())])
    return toy


@pytest.mark.parametrize(
    "text, words",
    [
        ("-" * 300_000 + "1", "nested too deeply"),
        ("1+" * 100_000 + "1", "nested too deeply"),
        ("(" * 300_000, "line 1: too many nested parentheses"),
        ("x = '\0'", "null bytes"),
        ("pass\n" * 2_001, "has 2001 lines, expected at most 2000"),
    ],
)
def test_a_script_that_cannot_be_looked_at(whole, text, words):
    whole.write("helper.py", text)
    reports = problems(whole.directory, whole.root)
    assert any("helper.py: " in problem and words in problem for problem in reports), reports


def test_odd_escapes_in_a_script_are_not_our_business(whole, recwarn):
    whole.write("helper.py", "x = '\\d' if 1else 2\n")
    assert not any(
        "helper.py: line" in problem for problem in problems(whole.directory, whole.root)
    )
    assert not recwarn.list


@pytest.fixture
def record(toy, capsys):
    """The file of a record in a results folder, with a verdict beside it."""
    toy.run(seeds=(0,))
    capsys.readouterr()
    return next(toy.results.rglob("buggy-seed0-*.json"))


def refuses(cli, toy, *words):
    for arguments in (
        ("results",),
        ("results", "--csv", "-"),
        ("figures", "Toy-1", "--from", "results"),
    ):
        status, out, err = cli(*arguments, "--results", toy.results)
        assert status == 2, (
            arguments,
            out,
            err,
        )
        assert len(err.splitlines()) == 1, (
            arguments,
            out,
            err,
        )
        assert err.strip().isprintable(), (
            arguments,
            out,
            err,
        )
        assert all(word in err for word in words), (arguments, err)


@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device", "huge"])
def test_a_record_that_is_no_plain_file(cli, toy, record, kind):
    make, words = KINDS[kind]
    replace(record, make)
    words = {"huge": "is larger than 128000000 bytes", "a device": "is no plain file"}.get(
        kind, words
    )
    refuses(cli, toy, record.name, words)


def test_a_record_that_is_a_pipe_is_none_and_the_run_is_made_again(toy, record):
    replace(record, os.mkfifo)
    assert toy.run(seeds=(0,)).verdict.outcome == "REPRODUCED"
    assert read_record(record).ok


@pytest.mark.parametrize(
    "field, value",
    [
        ("bug", "../../etc"),
        ("case", "/etc"),
        ("environment", "../x"),
        ("environment", "a\n"),
        ("key", "../../x"),
        ("key", "k"),
        ("seed", -1),
        ("seed", True),
        ("threads", True),
        ("benign", 1),
        ("device", "\x1b[2J"),
        ("torch", "2\n"),
        ("torch", "9" * 5_000),
        ("python", ""),
        ("started", "yesterday"),
        ("wall_s", -1),
        ("wall_s", 1e300),
        ("peak_memory_mb", 10**300),
        ("parameters", {"x": [1]}),
        ("status", "ok\n"),
    ],
)
def test_a_field_that_would_lead_elsewhere(cli, toy, record, field, value):
    record.write_text(json.dumps(json.loads(record.read_text()) | {field: value}))
    refuses(cli, toy, record.name, f"not a run record: {field}")


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('"accuracy": 1', '"accuracy": ' + "[" * 100_000, "nested more than 50 deep"),
        ('"accuracy": 1', '"accuracy": ' + "[" * 500 + "]" * 500, "nested more than 50 deep"),
        ('"accuracy": 1', '"accuracy": ' + "9" * 5_000, "is too large a number"),
        ('"accuracy": 1', '"accuracy": 1e400', "is too large a number"),
        ('"accuracy": 1', '"accuracy": NaN', "NaN is no number"),
        ('"accuracy": 1', '"accuracy": "\\ud800"', "half a character"),
        ('"accuracy": 1', '"accuracy": 1, "accuracy": 2', "is there twice"),
    ],
)
def test_hostile_metrics(cli, toy, record, old, new, words):
    record.write_text(record.read_text().replace(old, new, 1))
    refuses(cli, toy, record.name, words)


def test_a_record_below_a_name_that_moves_the_cursor(cli, toy, record):
    odd = record.with_name("\x1b[31m-seed0-x.json")
    odd.write_text("{}")
    status, _, err = cli("results", "--results", toy.results)
    assert status == 2, err
    assert err.strip().isprintable(), err


def test_every_field_of_our_own_records_is_one(toy):
    for seed in (0, 2**32 - 1):
        assert all(record.ok for record in toy.run(seeds=(seed,)).records)
    assert len(Store(toy.results).records()) == 4
    with pytest.raises(ResultsError):
        read_record(toy.results)


@pytest.mark.parametrize(
    "written, words",
    [
        ("'[' * 100 + ']' * 100", "metrics.json: not JSON: nested more than 50 deep"),
        ("'[{\"a\": ' + '9' * 400 + '}]'", "is too large a number"),
        ('\'[{"a": "\\\\ud800"}]\'', "half a character"),
    ],
)
def test_a_script_whose_records_could_not_be_read_back(toy, cli, written, words):
    toy.write("buggy.py", f'from pathlib import Path\nPath("metrics.json").write_text({written})\n')
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert words in outcome.verdict.reason
    assert len(Store(toy.results).records()) == 2


@pytest.mark.parametrize("call", ["mkfifo('metrics.json')", "symlink('/dev/zero', 'metrics.json')"])
def test_a_script_that_leaves_a_trap_for_records(toy, call):
    toy.write("buggy.py", f"import os\nos.{call}\n")
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert "metrics.json: is " in outcome.verdict.reason


def test_a_map_of_versions_with_runs_of_no_case(cli, whole, tmp_path):
    path = whole.directory / "expected" / "versions" / "own" / "gone" / "buggy-seed0.json"
    path.parent.mkdir(parents=True)
    record = json.loads((whole.directory / "expected" / "only" / "buggy-seed0.json").read_text())
    path.write_text(json.dumps(record | {"case": "gone"}))
    status, _, err = cli("figures", "Toy-1", "--out", tmp_path / "figures")
    assert status == 2
    assert err.endswith(
        "\ntrainbugs: Toy-1: there are runs of 'gone' in its map of versions, which is no case of "
        "it\n"
    )


def test_a_mean_that_overflows():
    with pytest.raises(MeasureError, match="the mean of"):
        reduce([1e308, 1e308], "mean")


@pytest.mark.parametrize(
    "changes",
    [
        {"variant": "../x"},
        {"variant": "x/y"},
        {"seed": "../0"},
        {"key": "../../x"},
        {"key": 1},
        None,
    ],
    ids=str,
)
def test_a_verdict_whose_runs_lie_elsewhere(cli, toy, record, changes):
    verdict = record.with_name("verdict.json")
    document = json.loads(verdict.read_text())
    document["runs"] = [run | changes for run in document["runs"]] if changes else []
    verdict.write_text(json.dumps(document))
    status, _, err = cli("figures", "Toy-1", "--from", "results", "--results", toy.results)
    assert status == 2, err
    assert "verdict.json: not a verdict" in err, err
    assert len(err.splitlines()) == 1, err


def test_records_of_a_script_are_no_link_to_another_place(toy, tmp_path):
    (tmp_path / "other.json").write_text('[{"epoch": 1, "accuracy": 1}]')
    toy.write(
        "buggy.py", f"import os\nos.symlink({str(tmp_path / 'other.json')!r}, 'metrics.json')\n"
    )
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert "leads out of its directory" in outcome.verdict.reason


def test_curves_of_what_is_no_number(cli, toy, record):
    metrics = [{"epoch": "one", "accuracy": 1}]
    record.write_text(
        json.dumps(json.loads(record.read_text()) | {"metrics": metrics, "metrics_digest": None})
    )
    status, out, err = cli("figures", "Toy-1", "--from", "results", "--results", toy.results)
    assert status == 0
    assert "summary.png" in out
    assert err.startswith("trainbugs: Toy-1/only: no curves: cannot be drawn: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "changes, words",
    [
        (
            {"detector": "other"},
            "its record belongs to other/none/B/one/buggy-0.json; move the file away",
        ),
        ({"seed": 1}, "its record belongs to d/none/B/one/buggy-1.json"),
        ({"detector": "\x1b[2J"}, "detector: is "),
        ({"bug": ".."}, "bug: is '..'"),
        ({"kind": "best"}, "kind: is 'best', expected one of buggy, control, fixed"),
        ({"trigger": "5"}, "trigger: is '5'"),
        ({"trigger": 10**30}, "trigger: is 1000"),
        ({"benign": 1}, "benign: is 1"),
        ({"seed": True}, "seed: is True"),
        ({"site": {"file": 1, "line": None, "api": "x"}}, "site.file: is 1"),
    ],
)
def test_an_evaluation_of_a_stranger(tmp_path, changes, words):
    folder = described(tmp_path)
    path = folder.save(check())
    folder.save(check("fixed"))
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    records = folder.read()
    assert [record.kind for record in records.checks] == ["fixed"], "the others are there"
    assert len(records.problems) == 1
    assert records.problems[0].startswith(f"{path}: ")
    assert words in records.problems[0]
    assert records.problems[0].isprintable()


def described(root):
    """A results folder with the description of the detector d."""
    (root / "d").mkdir()
    shutil.copy(ROOT / "detectors" / "loss-rules" / "detector.json", root / "d")
    return CheckStore(root)


@pytest.mark.parametrize("description", [None, "{", '{"schema": 1}'])
def test_records_beside_no_description_of_their_detector(tmp_path, description):
    folder = CheckStore(tmp_path)
    for made_check in (check(), check(detector="other")):
        folder.save(made_check)
    shutil.copy(ROOT / "detectors" / "loss-rules" / "detector.json", tmp_path / "other")
    if description:
        (tmp_path / "d" / "detector.json").write_text(description)
    records = folder.read()
    assert [record.detector for record in records.checks] == ["other"]
    assert list(records.rules) == ["other"]
    assert len(records.problems) == 1
    assert records.problems[0].startswith(f"{tmp_path / 'd' / 'detector.json'}: ")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_record_of_a_check_that_is_no_plain_file(tmp_path, make):
    folder = described(tmp_path)
    path = folder.save(check())
    replace(path, make)
    assert folder.read().problems == (f"{path}: not a record of an evaluation: is no plain file",)


@pytest.mark.parametrize("seconds", [[], [0.0], [1e-9], [-1.0], ["x"], [True]])
@pytest.mark.parametrize("name", ["bare", "watched"])
def test_timings_of_a_stranger(tmp_path, name, seconds):
    folder = described(tmp_path)
    path = folder.save(overhead((1.0,), (2.0,)))
    assert folder.read().overheads[0].watched == (2.0,)
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: seconds}))
    records = folder.read()
    assert not records.overheads
    assert len(records.problems) == 1
    assert f"{name}" in records.problems[0]
