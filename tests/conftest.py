"""Toy bugs and toy environments: tiny, real, without torch and without network."""

import base64
import hashlib
import json
import signal
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from runner.bugs.catalog import Catalog, load_bug
from runner.progress.lines import Progress
from runner.session.options import Options
from runner.session.session import Session
from trainbugs import api
from trainbugs.cli.main import main

# Options for whole reproductions, and a pytest within pytest to test them.
pytest_plugins = ["proving", "pytester"]

# A background job of a shell starts with interrupts ignored, and its children inherit that; tests interrupt them.
signal.signal(signal.SIGINT, signal.default_int_handler)

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

# Reads its parameters, prints and writes one record an epoch; `VALUE` is what the variants differ in.
SCRIPT = """\
import json
import sys
from pathlib import Path

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
config = json.loads(path.read_text())["parameters"]
records = []
for epoch in range(1, config["num_epoch"] + 1):
    record = {"epoch": epoch, "accuracy": VALUE * epoch + config["seed"]}
    print(json.dumps(record), flush=True)
    records.append(record)
Path(config["output"] + ".json").write_text(json.dumps(records))
"""

README = """\
# Toy-1

<https://example.org/toy>

## What to expect
## What is wrong
## Root cause
## The fix

```diff
DIFF
```

## Impact
## How it could be detected
"""


def toy_config(**changes):
    """The config.json of the toy bug as a dict, with changes at the top level."""
    config = {
        "schema": 1,
        "id": "Toy-1",
        "title": "A toy",
        "source": "https://example.org/toy",
        "labels": {"location": "user code", "root_cause": "a factor", "symptom": "low values"},
        "site": {"file": "buggy.py", "line": 9, "api": "print"},
        "environment": "toy",
        "timeout_s": 20,
        "seeds": [0, 1],
        "parameters": {"num_epoch": 3, "seed": 0, "device": "auto", "output": "metrics"},
        "plot": {"x": "epoch", "panels": [{"label": "accuracy", "lines": [{"label": "a", "metric": "accuracy"}]}]},
        "cases": {
            "only": {
                "title": "The one case",
                "trigger": {"iteration": 2, "why": "it is a toy"},
                "variants": {"buggy": {"script": "buggy.py"}, "fixed": {"script": "fixed.py"}},
                "expectations": [
                    {"statement": "buggy stays low", "variant": "buggy", "metric": "accuracy",
                     "reduce": "last", "op": "<=", "value": 5},
                    {"statement": "fixed is higher by 3", "variant": "fixed", "metric": "accuracy", "minus": "buggy",
                     "reduce": "last", "op": "==", "value": 3},
                ],
            }
        },
    }  # fmt: skip
    return config | changes


class Toy:
    """A catalogue in a temporary folder, with one toy bug that can be changed and run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / "bugs" / "Toy-1"
        self.directory.mkdir(parents=True)
        self.results = root / "results"
        self.write("buggy.py", SCRIPT.replace("VALUE", "1"))
        self.write("fixed.py", SCRIPT.replace("VALUE", "2"))
        self.configure()
        diff = "--- buggy.py\n+++ fixed.py\n" + textwrap.dedent("""\
            @@ -6,7 +6,7 @@
             config = json.loads(path.read_text())["parameters"]
             records = []
             for epoch in range(1, config["num_epoch"] + 1):
            -    record = {"epoch": epoch, "accuracy": 1 * epoch + config["seed"]}
            +    record = {"epoch": epoch, "accuracy": 2 * epoch + config["seed"]}
                 print(json.dumps(record), flush=True)
                 records.append(record)
             Path(config["output"] + ".json").write_text(json.dumps(records))""")
        self.write("README.md", README.replace("DIFF", diff))

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def configure(self, **changes) -> Path:
        return self.write("config.json", json.dumps(toy_config(**changes)))

    @property
    def bug(self):
        return load_bug(self.directory)

    @property
    def catalog(self) -> Catalog:
        return Catalog(self.root)

    def session(self, **options) -> Session:
        options = {"python": Path(sys.executable), "results": self.results} | options
        return Session(self.catalog, Options(**options), Progress(sys.stderr))

    def run(self, *targets: str, **options):
        """The outcome of the one case."""
        session = self.session(**options)
        return session.run(session.catalog.select(targets or ["Toy-1"]))[0]


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
    monkeypatch.setattr(api, "load", lambda: toy.catalog)
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
