"""Maps of versions, made in toy environments: rows that cannot be built, removing, keeping as
expected, figures.
"""

import json
import shutil

import pytest
from support.copies import replace
from support.environments import QUIET, load
from support.toy import alone

from plots import style
from plots.figures import draw_maps
from plots.versions import draw_versions
from runner.authoring.validate import problems
from runner.environments import install, spec
from runner.environments.install import Installation
from runner.errors import UsageError
from runner.execution.execute import NOTHING
from runner.results.expected import version_records
from runner.session.options import Options
from runner.session.promote import promote_versions
from runner.session.version_sweep import map_versions
from runner.verdicts.affected import VersionFinding


@pytest.fixture
def second(toy, toy_environment):
    """Another environment beside `toy`, whose lock names a package that no index has."""
    alone(toy)
    directory = toy.root / "environments" / "toy-2"
    shutil.copytree(toy_environment, directory)
    (directory / "requirements.txt").write_text("toypackage==2.0 --hash=sha256:" + 64 * "0" + "\n")
    return directory


def make(toy, *names, pattern="toy*", **options):
    remove = options.pop("remove_after", False)
    settings = Options(results=toy.results, device="cpu", **options)
    return map_versions(toy.catalog, names or ["Toy-1"], pattern, settings, QUIET, remove)[0]


def test_an_environment_that_cannot_be_built_is_a_row_and_stops_nothing(toy, second):
    shutil.move(second, second.with_name("a-toy"))
    versions = make(toy, pattern="*toy")
    states = {item.environment: item.state for item in versions.findings}
    assert states == {"a-toy": "INVALID", "toy": "affected"}
    assert any("a-toy could not be built" in item.reason for item in versions.findings)
    with pytest.raises(UsageError, match="lacks a-toy"):
        promote_versions(versions)


def test_a_map_leaves_the_verdict_of_the_bug_alone(toy, second):
    toy.run()
    before = (toy.results / "Toy-1" / "only" / "verdict.json").read_bytes()
    toy.write("buggy.py", "import sys; sys.exit('no such API')")
    versions = make(toy, pattern="toy")
    assert [(item.state, item.reason) for item in versions.findings] == [
        ("INVALID", "seed 0: crashed: exit status 1: no such API")
    ]
    assert (toy.results / "Toy-1" / "only" / "verdict.json").read_bytes() == before


def test_remove_after_removes_what_it_built_and_nothing_else(toy, second):
    make(toy, pattern="toy", remove_after=True)
    assert spec.find(load(toy)) is None
    make(toy, pattern="toy", force=True)
    make(toy, pattern="toy", force=True, remove_after=True)
    assert spec.find(load(toy)) is not None


def test_the_first_seed_is_run_unless_others_are_named(toy, second):
    toy.configure(**{**_config(toy), "seeds": [7, 8]})
    toy.write("buggy.py", (toy.directory / "buggy.py").read_text().replace('+ config["seed"]', ""))
    assert [record.seed for record in make(toy, pattern="toy").records] == [7]
    assert [record.seed for record in make(toy, pattern="toy", seeds=(7, 8, 9)).records] == [
        7,
        8,
        9,
    ]


def _config(toy):
    import json

    return json.loads((toy.directory / "config.json").read_text())


@pytest.mark.parametrize(
    "names, pattern, words",
    [
        (
            ["Toy-1"],
            "torch-*",
            "no environment matches 'torch-\\*'; expected a pattern .* for some of toy, toy-2",
        ),
        (["Toy-1/only/fixed"], "*", "a map of versions is of the buggy variant"),
        (["Toy-2"], "*", "there is no bug 'Toy-2'"),
    ],
)
def test_what_cannot_be_mapped_is_one_line(toy, second, names, pattern, words):
    with pytest.raises(UsageError, match=words):
        make(toy, *names, pattern=pattern)


def test_cases_that_compare_variants_or_are_not_portable_are_left_out(toy, toy_environment):
    with pytest.raises(UsageError, match="its expectations compare the variants"):
        make(toy, pattern="toy")
    alone(toy)
    cases = _config(toy)["cases"]
    toy.configure(seeds=[0], cases=cases | {"other": cases["only"] | {"portable": False}})
    assert [record.case for record in make(toy, pattern="toy").records] == ["only"]
    assert [record.case for record in make(toy, "Toy-1/other", pattern="toy").records] == ["other"]
    toy.configure(seeds=[0], cases=cases | {"other": cases["only"] | {"needs": ["gpu"]}})
    assert [record.case for record in make(toy, pattern="toy").records] == ["only"]


def test_the_map_is_kept_drawn_and_held_against_the_config(toy, second, tmp_path, monkeypatch):
    monkeypatch.setitem(style.SETTINGS, "svg.fonttype", "none")
    promote_versions(make(toy, pattern="toy"))
    assert [record.runtime.environment for record in version_records(toy.bug)] == ["toy"]
    (path,) = draw_maps([toy.bug], tmp_path, "svg", toy.root)
    assert path == tmp_path / "Toy-1" / "versions.svg"
    assert ">affected<" in path.read_text()
    states = [
        VersionFinding("toy", "1", "only", "not affected", ""),
        VersionFinding("toy", "2", "only", "INVALID", ""),
    ]
    text = draw_versions(toy.bug, states, tmp_path, "svg").read_text()
    assert [colour.lower() in text for colour in style.STATES.values()] == [
        False,
        True,
        False,
        True,
    ]
    assert ">not run<" not in text
    assert "does not run there" in text
    text = draw_versions(toy.bug, states, tmp_path, "svg", ["1", "1.5", "2"]).read_text()
    assert text.count(">run<") == 1
    assert (
        draw_maps([toy.bug], tmp_path / "again", "svg", toy.root)[0].read_bytes()
        == path.read_bytes()
    )

    def reports():
        return [
            problem
            for problem in problems(toy.directory, toy.root)
            if "versions" in problem or "affected" in problem
        ]

    assert reports() == [
        "config.json: affected does not name -; the map in expected/versions has affected"
    ]
    config = _config(toy)
    toy.configure(**config, affected={"package": "toypackage", "versions": ["-"]})
    assert reports() == []
    toy.write("helper.py", "x = 1\n")
    assert "expected/versions/toy/only is of other scripts" in reports()[0]


def test_only_pinned_and_committed_runs_are_kept_and_stale_ones_go(toy, second):
    toy.configure(**{**_config(toy), "seeds": [0, 1]})
    versions = make(toy, pattern="toy")
    for change, words in (
        ({"pinned": False}, "not run in pinned"),
        ({"revision": "1-dirty"}, "not committed"),
    ):
        with pytest.raises(UsageError, match=words):
            promote_versions(
                replace(
                    versions,
                    records=tuple(replace(record, **change) for record in versions.records),
                )
            )
    promote_versions(make(toy, pattern="toy", seeds=(0, 1)))
    assert [record.seed for record in version_records(toy.bug)] == [0, 1]
    failed = replace(
        versions.records[0], reason="Error: ['/home/me/env/bin/python', 'a.py'] failed at 1/2"
    )
    promote_versions(replace(versions, records=(failed,)))
    assert [record.seed for record in version_records(toy.bug)] == [0]
    assert version_records(toy.bug)[0].reason == "Error: ['python', 'a.py'] failed at 1/2"


def test_what_is_not_to_be_kept_stays_out_of_the_cache(toy, second, monkeypatch):
    calls = []

    def run_uv(self, arguments):
        calls.append(arguments)
        return NOTHING if "--offline" not in arguments else replace(NOTHING, returncode=1)

    monkeypatch.setattr(Installation, "_run_uv", run_uv)
    monkeypatch.setattr(install, "file_hashes", lambda folder: 1 / 0)
    for remove_after in (False, True):
        with pytest.raises(ZeroDivisionError):
            make(toy, pattern="toy", remove_after=remove_after)
    assert ["--no-cache" in arguments for arguments in calls] == [
        False,
        False,
        False,
        False,
        False,
        True,
    ]


def test_the_command(cli, toy, second):
    status, out, err = cli("versions", "Toy-1", "--environments", "toy*")
    assert status == 2
    assert "environment 2 of 2: toy-2" in err
    lines = out.splitlines()
    assert lines[0].split() == ["CASE", "PACKAGE", "VERSION", "STATE", "WHY"]
    assert len(lines) == 4
    assert any("affected" in line for line in lines)
    assert any("could not be built" in line for line in lines)
    assert lines[-1] == "figure: figures/Toy-1/versions.png"
    assert cli("versions", "Toy-1", "--environments", "toy")[0] == 0
    status, out, err = cli("versions", "Toy-1", "--environments", "toy*", "--json", "-q")
    rows = json.loads(out)
    assert status == 2
    assert {row["id"] for row in rows} == {"Toy-1/only"}
    assert "figure: " in err
    by_environment = {
        row["environment"]: (row["case"], row["state"], row["version"]) for row in rows
    }
    assert by_environment == {"toy": ("only", "affected", None), "toy-2": ("only", "INVALID", None)}
    status, out, _ = cli("versions", "Toy-1", "--environments", "toy", "--update-expected")
    assert status == 0
    assert "expected records of Toy-1: 1 written" in out
    assert (toy.directory / "expected" / "versions.png").exists()
