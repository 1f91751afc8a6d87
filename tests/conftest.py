"""Toy bugs and toy environments: tiny, real, without torch and without network."""

import base64
import hashlib
import signal
import zipfile
from pathlib import Path

import pytest
from support.toy import PYTHON, Toy

from trainbugs import api
from trainbugs.cli.main import main

# Options for whole reproductions, and a pytest within pytest to test them.
pytest_plugins = ["support.proving", "pytester"]

# A background job of a shell starts with interrupts ignored, and its children inherit that; tests interrupt them.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "catalogue")


@pytest.fixture(autouse=True)
def no_real_environment(request, tmp_path, monkeypatch):
    """Unmarked tests cannot build a real environment: no index, no network for uv, an empty cache."""
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
    files = {
        "toypackage/__init__.py": "value = 1\n",
        "toypackage-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toypackage\nVersion: 1.0\n",
        "toypackage-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    files["toypackage-1.0.dist-info/RECORD"] = record + "toypackage-1.0.dist-info/RECORD,,\n"
    with zipfile.ZipFile(folder / "toypackage-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return folder


@pytest.fixture
def toy_environment(toy: Toy, wheelhouse: Path) -> Path:
    """environments/toy of the toy catalogue: the lock names toypackage with its hash."""
    directory = toy.root / "environments" / "toy"
    directory.mkdir(parents=True)
    wheel = next(wheelhouse.glob("*.whl"))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (directory / "requirements.in").write_text("toypackage==1.0\n")
    (directory / "requirements.txt").write_text(f"toypackage==1.0 \\\n    --hash=sha256:{digest}\n")
    (directory / ".python-version").write_text(PYTHON + "\n")
    (directory / "environment.json").write_text('{"disk_gb": 0.01}')
    return directory


@pytest.fixture
def cli(toy, monkeypatch, tmp_path, capsys):
    """Call the program on the toy catalogue, in an empty directory; returns (exit status, stdout, stderr)."""
    monkeypatch.setattr(api, "load", lambda root=None: toy.catalog)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            status: object = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = exit.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


def pytest_collection_modifyitems(items):
    """Tests in one environment (`place`) come one after the other, so that it is built once and removed after them."""

    def environment(item):
        return item.callspec.params.get("place", "") if hasattr(item, "callspec") else ""

    items.sort(key=environment)
