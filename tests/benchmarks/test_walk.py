"""The walk over fixes of libraries: what is a fix, and that none is skipped."""

import importlib
import os
import subprocess

import pytest
from support.paths import ROOT

IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "2025-01-01T00:00:00Z"))
}


@pytest.fixture
def walk(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("walk")


@pytest.fixture
def clones(tmp_path):
    """A clone whose commits change files, by their titles."""
    folder = tmp_path / "clones" / "me+lib"
    folder.mkdir(parents=True)

    def git(*words):
        environment = {**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", "-C", folder, *words], check=True, env=environment)

    def commit(title, **files):
        for name, lines in files.items():
            path = folder / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{title} {number}\n" for number in range(lines)))
        git("add", "-A")
        git("commit", "-q", "-m", title)

    git("init", "-q")
    commit("Fix the loss", lib__loss_py=3)
    commit("Fix a test", tests__test_loss_py=3)
    commit("Add a fixture", lib__fixture_py=3)
    commit("fixes a bug in two files", lib__a_py=2, lib__b_py=2)
    commit("Bugfix, and a rewrite", lib__large_py=100)
    commit("Fix docs", docs__page_py=1)
    return folder.parent


def run(walk, tmp_path, clones, seed=0, out="walk.csv"):
    (tmp_path / "libraries.txt").write_text("# mine\nme/lib\n")
    words = ["draw", str(tmp_path / "libraries.txt"), str(clones), "--seed", str(seed)]
    return walk.main([*words, "--since", "2024-01-01", "--out", str(tmp_path / out)])


def test_small_fixes_of_what_users_run_are_drawn(walk, clones, tmp_path):
    assert run(walk, tmp_path, clones) == 0
    rows = walk.read(tmp_path / "walk.csv")
    assert {row["title"] for row in rows} == {"Fix the loss", "fixes a bug in two files"}
    assert [row["number"] for row in rows] == ["1", "2"]
    assert {row["library"] for row in rows} == {"me/lib"}


def test_the_seed_alone_decides_the_order_and_a_walk_is_drawn_once(walk, clones, tmp_path):
    orders = set()
    for seed in range(8):
        assert run(walk, tmp_path, clones, seed, f"{seed}.csv") == 0
        assert run(walk, tmp_path, clones, seed, f"{seed}-again.csv") == 0
        text = (tmp_path / f"{seed}.csv").read_text()
        assert (tmp_path / f"{seed}-again.csv").read_text() == text
        orders.add(text)
    assert len(orders) == 2
    assert run(walk, tmp_path, clones, 0, "0.csv") == 2


@pytest.mark.parametrize(
    "decisions, problem",
    [
        ([("", ""), ("taken", "Bug-1")], "number 2 is decided, and number 1 is not"),
        ([("dropped", ""), ("", "")], "without a reason"),
        ([("maybe", "why"), ("", "")], "expected one of taken, dropped"),
    ],
)
def test_no_decision_is_skipped_or_without_a_reason(
    walk, clones, tmp_path, capsys, decisions, problem
):
    run(walk, tmp_path, clones)
    path = tmp_path / "walk.csv"
    rows = walk.read(path)
    for row, (decision, reason) in zip(rows, decisions, strict=True):
        row |= {"decision": decision, "reason": reason}
    walk.write(path, rows)
    assert walk.main(["check", str(path)]) == 2
    assert problem in capsys.readouterr().err


def test_the_next_ones_are_shown(walk, clones, tmp_path, capsys):
    run(walk, tmp_path, clones)
    path = tmp_path / "walk.csv"
    rows = walk.read(path)
    rows[0] |= {"decision": "dropped", "reason": "it is loud"}
    walk.write(path, rows)
    assert walk.main(["next", str(path)]) == 0
    out = capsys.readouterr().out
    assert "1 of 2 are decided, 0 taken" in out
    assert rows[1]["title"] in out
    assert rows[0]["title"] not in out


def test_what_is_no_clone_is_one_line(walk, tmp_path, capsys):
    assert run(walk, tmp_path, tmp_path / "nowhere") == 2
    assert "no clone of me/lib" in capsys.readouterr().err


def test_a_library_has_no_more_fixes_than_asked_for(walk, clones, tmp_path):
    words = ["--since", "2024-01-01", "--seed", "0", "--most", "1"]
    (tmp_path / "libraries.txt").write_text("me/lib\n")
    out = tmp_path / "walk.csv"
    assert (
        walk.main(["draw", str(tmp_path / "libraries.txt"), str(clones), *words, "--out", str(out)])
        == 0
    )
    assert len(walk.read(out)) == 1
