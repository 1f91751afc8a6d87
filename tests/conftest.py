"""Toy bugs and toy environments: tiny, real, without torch and without network."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.isolated import isolated_by
from support.paths import ROOT
from support.toy import PYTHON, Toy
from support.wheels import lock, write_wheel

from runner.environments import builder, spec
from runner.progress.lines import on_stderr
from runner.sandbox import landlock
from trainbugs import api
from trainbugs.cli.main import main

# Options for whole reproductions and a pytest within pytest to test them; the real site;
# `trainbugs watch` with a toy interpreter.
pytest_plugins = [
    "support.isolation",
    "support.proving",
    "support.whole_site",
    "support.evaluating",
    "support.watching",
    "pytester",
]

# A background job of a shell starts with both ignored, and its children inherit that; tests send
# them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to which programs may write as well as the test:
    only without namespaces there is one.
    """
    if not landlock.version():
        pytest.skip("NOT RUN: no Landlock on this machine")
    with (
        isolated_by("landlock", monkeypatch),
        tempfile.TemporaryDirectory(prefix="trainbugs-test-", dir="/dev/shm") as folder,
    ):
        yield Path(folder)


@pytest.fixture
def unkept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine where programs cannot be kept to their paths."""
    with isolated_by("none", monkeypatch):
        yield


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "catalogue")


@pytest.fixture(autouse=True)
def no_real_environment(request, tmp_path, monkeypatch):
    """Unmarked tests cannot build a real environment: no index, no network for uv,
    an empty cache.
    """
    if request.node.get_closest_marker("real"):
        return
    monkeypatch.setenv("TRAINBUGS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    monkeypatch.delenv("TRAINBUGS_DATA", raising=False)


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch) -> Path:
    """A folder with one wheel, toypackage 1.0, that uv finds instead of an index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    write_wheel(folder, "toypackage", {"toypackage/__init__.py": "value = 1\n"})
    return folder


@pytest.fixture
def toy_environment(toy: Toy, wheelhouse: Path) -> Path:
    """environments/toy of the toy catalogue: the lock names toypackage with its hash."""
    directory = toy.root / "environments" / "toy"
    directory.mkdir(parents=True)
    (directory / "requirements.in").write_text("toypackage==1.0\n")
    (directory / "requirements.txt").write_text(lock(*wheelhouse.glob("*.whl")))
    (directory / ".python-version").write_text(PYTHON + "\n")
    (directory / "environment.json").write_text('{"disk_gb": 0.01}')
    return directory


@pytest.fixture
def cli(toy, monkeypatch, tmp_path, capsys):
    """Call the program on the toy catalogue, in an empty directory; returns (exit status, stdout,
    stderr).
    """
    monkeypatch.setattr(api, "load", lambda root=None: toy.catalog)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            status: object = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = exit.code
        finally:
            # Of the tests, not of the program: each interrupt counts.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


def pytest_collection_modifyitems(items):
    """Tests in one environment (`place`) come one after the other,
    so that it is built once and removed after them.
    """

    def environment(item):
        return item.callspec.params.get("place", "") if hasattr(item, "callspec") else ""

    items.sort(key=environment)
    for item in items:
        if "torch_python" in item.fixturenames and not item.get_closest_marker("real"):
            raise pytest.UsageError(f"{item.nodeid} builds a real environment: mark it as real")


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "the environment of tests that take any torch: torch-2.8.0, say"
    parser.addoption("--torch", default="torch-2.2.2", metavar="NAME", help=help_text)


@pytest.fixture(scope="session")
def torch_python(request: pytest.FixtureRequest) -> Path:
    """An interpreter with torch 2.2.2, or with what --torch names."""
    name = request.config.getoption("--torch")
    return builder.build(spec.load(ROOT, name), on_stderr()).python
