"""What a user waits for, beside its alternative: part of benchmark.py.

Processor time where nothing else is said, in turns. A ratio is the median of the pairs, with its
interval.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import scale
from timing import interleaved, processor_seconds, ratio, show
from uv import find_uv_bin

from runner.bugs.catalog import Catalog
from runner.environments import spec

ROOT = Path(__file__).resolve().parent.parent
TRAINBUGS = [sys.executable, "-m", "runner"]
# Builds write 5 GB each.
MOST_BUILDS = 5

LIST_ELSEWHERE = """
import sys
from pathlib import Path
from runner.bugs.catalog import Catalog
from trainbugs import api
from trainbugs.cli.main import main
api.load = lambda: Catalog(Path(sys.argv[1]))
main(["list"])
"""
NOXFILE = """\
import nox

@nox.session
def tests(session):
    session.run("pytest")
"""
# What no validation can leave out: the text of each bug is read and parsed.
READ_BUGS = """
import ast, json, sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).rglob("*.json")):
    json.loads(path.read_text())
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    ast.parse(path.read_text())
"""
# Whoever writes pages and figures imports these, and draws one figure for each bug.
DRAW_FIGURES = """
import sys
import pandas
from matplotlib.figure import Figure
for number in range(int(sys.argv[1])):
    figure = Figure()
    figure.subplots().plot(range(10))
    figure.savefig(f"{sys.argv[2]}/{number}.svg")
"""


def bench_waiting(arguments):
    bench_builds(min(arguments.repeats, MOST_BUILDS))
    bench_list_and_nox(arguments.repeats)
    bench_three_seconds(arguments.repeats)
    bench_whole_catalogue(arguments.repeats)


def bench_builds(repeats):
    """An environment from uv's cache, and the first `import torch` after `uv pip install` of the
    same lock; without bytecode of an earlier environment, and with it.
    """
    build = [*TRAINBUGS, "env", "build", "torch-2.2.2"]
    built, shared, installed, imported = [], [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(dir=spec.cache_root()) as folder:
            cache = os.environ | {"TRAINBUGS_CACHE": folder}
            built.append(processor_seconds(build, env=cache))
            shared.append(processor_seconds([*build, "--force"], env=cache))
        with tempfile.TemporaryDirectory(dir=spec.cache_root()) as folder:
            installed.append(processor_seconds(install_by_uv(folder)))
            imported.append(processor_seconds([f"{folder}/venv/bin/python", "-c", "import torch"]))
    both = [one + other for one, other in zip(installed, imported, strict=True)]
    show("uv pip install of the lock", installed)
    show("the first import torch", imported)
    for name, times in (("no bytecode yet", built), ("bytecode shared", shared)):
        of_import, of_both = ratio(times, imported), ratio(times, both)
        show(f"trainbugs env build, {name}", times, f"of the import: {of_import} (limit 2)")
        print(f"{'':48s} of uv and the import: {of_both}")
    print(flush=True)


def install_by_uv(folder):
    """A command that makes `folder`/venv from the lock of torch-2.2.2, out of uv's cache."""
    uv, venv = find_uv_bin(), f"{folder}/venv"
    install = [uv, "pip", "install", "--python", f"{venv}/bin/python", "--require-hashes"]
    install += ["-r", str(spec.load(ROOT, "torch-2.2.2").lock)]
    both = f'"{uv}" venv --python "{sys.executable}" "{venv}" && exec "$@"'
    return ["sh", "-c", both, "sh", *install]


def bench_list_and_nox(repeats):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copies(root / "many", 150)
        (root / "noxfile.py").write_text(NOXFILE)
        subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
        python = root / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "nox==2026.10.20"], check=True)
        nox = [python, "-m", "nox", "--list", "--noxfile", root / "noxfile.py"]
        listing = [sys.executable, "-c", LIST_ELSEWHERE, root / "many"]
        base, times = interleaved(repeats, nox, listing, measure=processor_seconds)
    show("nox --list, one session", base)
    show("trainbugs list, 150 bugs", times, f"{ratio(times, base)} (limit 1.1)\n")


def copies(root, count):
    """A catalogue of so many bugs below `root`: copies of those that there are,
    with their expected records.
    """
    names = Catalog(ROOT).ids()
    for number in range(count):
        name = names[number % len(names)]
        copy = root / "bugs" / f"{name}-{number}"
        shutil.copytree(ROOT / "bugs" / name, copy)
        config = json.loads((copy / "config.json").read_text())
        (copy / "config.json").write_text(json.dumps(config | {"id": copy.name}, indent=2))


def bench_three_seconds(repeats):
    """A toy that sleeps three seconds: all else that is measured is the runner's own,
    without any environment. Seconds that a user waits.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        scale.toy(root, 1)
        script, results = root / "bugs" / "Toy-1" / "fixed.py", root / "results"
        script.write_text("import time\ntime.sleep(3)\n" + script.read_text())
        # It writes into the folder that it is in.
        elsewhere = f"import os\nos.chdir({folder!r})\n{script.read_text()}"
        bare = [sys.executable, "-c", elsewhere, script.parent / "config.json"]
        target = script.parent / "only" / "fixed"
        run = [*TRAINBUGS, "run", target, "--python", sys.executable, "--force"]
        alone, with_runner = interleaved(repeats, bare, [*run, "--results", results])
    show("a script of three seconds, waited for", alone)
    show("trainbugs run of it, waited for", with_runner, f"{ratio(with_runner, alone)} (limit 1.1)")
    print(flush=True)


def bench_whole_catalogue(repeats):
    """`validate` and `site`, beside the least that such a command has to do."""
    bugs = len(Catalog(ROOT).ids())
    with tempfile.TemporaryDirectory() as folder:
        commands = [
            [sys.executable, "-c", READ_BUGS, ROOT / "bugs"],
            [*TRAINBUGS, "validate"],
            [sys.executable, "-c", DRAW_FIGURES, bugs, folder],
            [*TRAINBUGS, "site", "--out", f"{folder}/site"],
        ]
        read, validated, drawn, made = interleaved(repeats, *commands, measure=processor_seconds)
    show(f"JSON and Python of {bugs} bugs, read and parsed", read)
    show("trainbugs validate", validated, f"{ratio(validated, read)} (limit 3 s)")
    show(f"a figure of one line for each of {bugs} bugs", drawn)
    show("trainbugs site", made, f"{ratio(made, drawn)} (limit 6 s)\n")
