"""Runs of real toy scripts: every way to fail gives its own status, and INVALID is never mistaken
for a verdict.
"""

import json
from pathlib import Path

import pytest
from support.copies import replace
from support.meeting import meanwhile
from support.toy import SCRIPT, toy_config

from runner.environments import runtime
from runner.execution.key import read_scripts
from runner.sandbox.limits import default_memory_mb
from runner.sandbox.process import network_can_be_cut

HEAD = "import json, os, sys, time\nfrom pathlib import Path\n"


def test_reproduced(toy):
    outcome = toy.run()
    assert (outcome.verdict.outcome, len(outcome.records)) == ("REPRODUCED", 4)
    verdict = json.loads((toy.results / "Toy-1" / "only" / "verdict.json").read_text())
    assert verdict["verdict"] == "REPRODUCED"
    assert len(verdict["checks"]) == 4
    assert len(verdict["runs"]) == 4


def test_a_fixed_copy_as_the_buggy_script_is_not_reproduced(toy):
    toy.write("buggy.py", (toy.directory / "fixed.py").read_text())
    assert toy.run().verdict.outcome == "NOT REPRODUCED"


def test_a_buggy_copy_as_the_fixed_script_is_not_reproduced(toy):
    toy.write("fixed.py", (toy.directory / "buggy.py").read_text())
    assert toy.run().verdict.outcome == "NOT REPRODUCED"


@pytest.mark.parametrize(
    "code, status, reason",
    [
        (
            "raise ValueError('no such layer')",
            "crashed",
            "exit status 1: ValueError: no such layer",
        ),
        ("sys.exit('put the data there')", "crashed", "exit status 1: put the data there"),
        ("os._exit(3)", "crashed", "exit status 3: log"),
        ("os.kill(os.getpid(), 9)", "killed", "killed by signal 9"),
        (
            "import no_such_module",
            "crashed",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("pass", "no records", "wrote no metrics.json"),
        ("Path('metrics.json').write_text('[]')", "no records", "holds no records"),
        ("Path('metrics.json').write_text('{\"a\": 1}')", "no records", "holds no records"),
        ("Path('metrics.json').write_text('[1, 2]')", "no records", "holds no records"),
        ("Path('metrics.json').write_text('[{\"a\":')", "no records", "metrics.json: not JSON"),
        ("Path('metrics.json').write_text('[' * 100_000)", "no records", "metrics.json: not JSON"),
        ("time.sleep(60)", "timeout", "killed after 1 s"),
    ],
)
@pytest.mark.parametrize("variant", ["buggy", "fixed"])
def test_every_failure_is_invalid_with_its_reason_and_logs(toy, code, status, reason, variant):
    toy.write(
        f"{variant}.py", HEAD + "print('begun', flush=True)\nprint('log', file=sys.stderr)\n" + code
    )
    outcome = toy.run(seeds=(0,), timeout_s=1.0)
    record = next(record for record in outcome.records if record.variant == variant)
    assert record.status == status
    assert reason in record.reason
    assert "\n" not in record.reason
    assert outcome.verdict.outcome == "INVALID"
    assert reason in outcome.verdict.reason
    logs = toy.results / "Toy-1" / "only" / "logs"
    assert (logs / f"{variant}-seed0-{record.key[:12]}.stdout").read_text() == "begun\n"
    assert "log" in (logs / f"{variant}-seed0-{record.key[:12]}.stderr").read_text()
    assert record.metrics == ()


def test_a_script_that_removes_its_log_is_invalid_and_stops_no_other(toy):
    toy.write("buggy.py", HEAD + "os.remove('stderr'); sys.exit(1)")
    outcome = toy.run(seeds=(0,))
    assert (outcome.verdict.outcome, outcome.records[0].status) == ("INVALID", "crashed")
    assert outcome.records[1].ok


def test_crash_after_the_records_were_written_is_invalid(toy):
    toy.write("buggy.py", SCRIPT.replace("VALUE", "1") + "\nraise RuntimeError('late')")
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert outcome.records[0].metrics == ()


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')"])
def test_nan_metrics_are_invalid(toy, value):
    toy.write("buggy.py", SCRIPT.replace("VALUE", value))
    verdict = toy.run(seeds=(0,)).verdict
    assert verdict.outcome == "INVALID"
    assert "'accuracy' is" in verdict.reason


def test_a_repeat_is_identical_and_a_finished_run_is_not_repeated(toy):
    first = toy.run()
    again = toy.run()
    assert [record.started for record in again.records] == [
        record.started for record in first.records
    ]
    assert again.records == first.records
    forced = toy.run(force=True)
    assert [record.metrics for record in forced.records] == [
        record.metrics for record in first.records
    ]
    assert not {record.started for record in forced.records} & {
        record.started for record in first.records
    }


def keys(toy, **options):
    return [record.key for record in toy.run(seeds=(0,), **options).records]


def test_the_key_changes_with_what_may_change_the_result(toy):
    first = keys(toy)
    assert keys(toy) == first
    toy.write("helper.py", "x = 1\n")
    with_helper = keys(toy)
    toy.write("helper.py", "x = 2\n")
    assert keys(toy) not in (first, with_helper)
    (toy.directory / "helper.py").unlink()
    assert keys(toy) == first
    parameters = toy_config()["parameters"] | {"num_epoch": 4}
    toy.configure(parameters=parameters)
    assert not set(keys(toy)) & set(first)
    toy.configure(timeout_s=21, title="Another title")
    assert keys(toy) == first
    assert not {record.key for record in toy.run(seeds=(1,)).records} & set(first)
    buggy, fixed = first
    toy.write("buggy.py", SCRIPT.replace("VALUE", "1.5"))
    assert keys(toy)[0] != buggy
    assert keys(toy)[1] == fixed


def test_a_new_case_leaves_the_keys_of_the_others(toy):
    first = keys(toy)
    cases = toy_config()["cases"]
    variants = {name: {"script": f"other_{name}.py"} for name in ("buggy", "fixed")}
    toy.write("other_buggy.py", SCRIPT.replace("VALUE", "1"))
    toy.write("other_fixed.py", SCRIPT.replace("VALUE", "2"))
    toy.configure(cases=cases | {"other": cases["only"] | {"variants": variants}})
    assert keys(toy) == first
    assert toy.run("Toy-1/other", seeds=(0,)).verdict.outcome == "REPRODUCED"
    # A bug of which some cases are left out, as `list --needs` does, has the same shared files.
    bug = toy.bug
    part = replace(bug, cases={"only": bug.cases["only"]})
    for variant in part.cases["only"].program.variants.values():
        assert read_scripts(part, variant) == read_scripts(bug, variant)
        assert part.shared == bug.shared == ()


def test_a_script_of_another_variant_is_not_there_to_be_imported(toy):
    """Its text is not in the key."""
    toy.write("buggy.py", "import fixed\n" + SCRIPT.replace("VALUE", "1"))
    outcome = toy.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert "No module named 'fixed'" in outcome.verdict.reason


def test_the_key_is_that_of_the_scripts_that_were_run(toy, shared):
    """A script that is edited while it runs: what was run is kept under the old key, the new one is
    run.
    """
    pause = meanwhile(shared, lambda: toy.write("buggy.py", SCRIPT.replace("VALUE", "1")))
    toy.write("buggy.py", HEAD + pause + SCRIPT.replace("VALUE", "9"))
    first = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
    again = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
    assert [row["accuracy"] for row in first.metrics] == [9, 18, 27]
    assert [row["accuracy"] for row in again.metrics] == [1, 2, 3]
    assert first.key != again.key


def test_an_edit_in_the_middle_of_a_session_waits_for_the_next(toy, shared):
    pause = meanwhile(shared, lambda: toy.write("fixed.py", "raise RuntimeError"))
    toy.write("buggy.py", HEAD + pause + SCRIPT.replace("VALUE", "1"))
    assert toy.run(seeds=(0,)).verdict.outcome == "REPRODUCED"
    assert toy.run(seeds=(0,)).verdict.outcome == "INVALID"


def test_the_key_changes_with_the_data_and_with_the_packages(toy, tmp_path, monkeypatch):
    config = toy_config()
    config["cases"]["only"]["data"] = ["SET/raw/train"]
    toy.configure(cases=config["cases"])
    for name in ("a", "b"):
        (tmp_path / name / "SET" / "raw").mkdir(parents=True)
        (tmp_path / name / "SET" / "raw" / "train").write_text("same")
    first = keys(toy, data=tmp_path / "a")
    assert keys(toy, data=tmp_path / "b") == first
    (tmp_path / "b" / "SET" / "raw" / "train").write_text("other")
    assert not set(keys(toy, data=tmp_path / "b")) & set(first)
    assert not set(keys(toy)) & set(first)
    assert toy.run(seeds=(0,)).records[0].data == "cache"
    before = keys(toy)
    real = runtime.probe
    monkeypatch.setattr(runtime, "probe", lambda path: replace(real(path), packages={"numpy": "9"}))
    assert not set(keys(toy)) & set(before)


def test_a_failed_run_is_tried_again(toy):
    toy.write(
        "buggy.py", HEAD + SCRIPT.replace("VALUE", "1") + "\nif Path('/tmp').is_dir(): sys.exit(1)"
    )
    first = toy.run(seeds=(0,))
    assert first.verdict.outcome == "INVALID"
    again = toy.run(seeds=(0,))
    assert again.records[0].started != first.records[0].started
    assert again.records[1] == first.records[1]


def test_a_truncated_record_is_run_again(toy):
    record = toy.run(seeds=(0,)).records[0]
    path = next(toy.results.rglob(f"buggy-seed0-{record.key[:12]}.json"))
    path.write_text(path.read_text()[:100])
    assert toy.run(seeds=(0,)).verdict.outcome == "REPRODUCED"


def test_a_script_sees_its_own_directory_and_the_data_folder(toy, tmp_path):
    toy.write("helper.py", "value = 1\n")
    code = (
        "import helper\nassert os.getcwd() == str(Path(__file__).parent)\n"
        "print(os.environ['TRAINBUGS_DATA'])\nPath('left-behind').write_text('x')\n"
    )
    toy.write("buggy.py", HEAD + code + SCRIPT.replace("VALUE", "1"))
    outcome = toy.run(seeds=(0,), data=tmp_path)
    assert outcome.verdict.outcome == "REPRODUCED", outcome.verdict.reason
    assert str(tmp_path) in next(toy.results.rglob("buggy-*.stdout")).read_text()
    assert sorted(path.name for path in toy.directory.iterdir()) == [
        "README.md", "buggy.py", "config.json", "fixed.py", "helper.py",
    ]  # fmt: skip


def test_an_unreadable_expected_record_costs_the_drift_not_the_verdict(toy, capsys):
    toy.write("expected/only/buggy-seed0.json", "{")
    outcome = toy.run()
    assert (outcome.verdict.outcome, outcome.drift) == ("REPRODUCED", None)
    assert "no drift: " in capsys.readouterr().err


def test_drift_is_reported_beside_the_verdict(toy):
    from support.records import as_pinned

    from runner.session.promote import promote_runs

    outcome = toy.run()
    assert outcome.drift is None
    promote_runs([as_pinned(outcome)])
    assert toy.run().drift == 0
    toy.write(
        "fixed.py", SCRIPT.replace("VALUE", "2.5").replace('config["seed"]', 'config["seed"] - 1.5')
    )
    outcome = toy.run()
    assert (outcome.verdict.outcome, outcome.drift) == ("REPRODUCED", 1.0)


def perform(toy, code, **changes):
    """The record of one run of the buggy script, with changes of the planned run."""
    toy.write("buggy.py", HEAD + code + "\n" + SCRIPT.replace("VALUE", "1"))
    session = toy.session(force=True)
    return next(
        session.queue.do(
            [replace(session.plan(session.catalog.select(["Toy-1/only/buggy"])[0])[0], **changes)]
        )
    )[1]


def test_a_script_that_takes_too_much_memory_is_killed_and_says_so(toy):
    record = perform(toy, "held = bytearray(300_000_000); time.sleep(20)", max_memory_mb=200)
    assert (record.status, record.reason) == ("killed", "used more than 0.2 GB of memory")
    assert (record.ok, record.metrics) == (False, ())
    session = toy.session()
    assert (
        session.plan(session.catalog.select(["Toy-1"])[0])[0].limits.memory_mb
        == default_memory_mb()
    )


def test_a_script_sees_no_secret_and_no_home_of_the_user(toy, monkeypatch):
    for name in ("AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "http://user:hidden@proxy:1")
    record = perform(toy, "print(dict(os.environ)); print(os.path.expanduser('~'), flush=True)")
    logged = next(toy.results.rglob("*.stdout")).read_text().splitlines()
    assert record.ok
    assert "hidden" not in logged[0]
    assert Path(logged[1]) != Path.home()
    assert not Path(logged[1]).exists()


@pytest.mark.parametrize(
    "data, changes, passed",
    [([], {}, False), (["SET"], {}, True), (["SET"], {"data": Path("/")}, False)],
)
def test_proxies_are_for_what_downloads_its_data(toy, monkeypatch, data, changes, passed):
    config = toy_config()
    config["cases"]["only"] |= {"data": data} if data else {}
    toy.configure(cases=config["cases"])
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hidden@proxy:1")
    assert perform(toy, "print(os.environ.get('HTTPS_PROXY'), flush=True)", **changes).ok
    assert ("hidden" in next(toy.results.rglob("*.stdout")).read_text()) == passed
    if network_can_be_cut() is None:
        assert perform(toy, "assert 'HTTPS_PROXY' not in os.environ", network=False, **changes).ok


def test_what_killed_commands_have_left_is_removed_though_nothing_is_to_be_done(
    toy, tmp_path, monkeypatch
):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    toy.run()
    for folder in (toy.results / ".unfinished-x", tmp_path / "tmp" / ".trainbugs-x"):
        (folder / "run-1").mkdir(parents=True)
        folder.with_name(folder.name + ".lock").touch()
    assert toy.run().verdict.outcome == "REPRODUCED"
    assert not [
        path for path in (tmp_path / "tmp").iterdir() if path.name.startswith(".trainbugs-x")
    ]
    assert not list(toy.results.glob(".unfinished-x*"))
