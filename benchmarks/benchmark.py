"""How fast is trainbugs? Each claim is measured beside its alternative in one run, and printed with the ratio.

python benchmarks/benchmark.py                 # list, run, warm: a minute
python benchmarks/benchmark.py cold            # builds the environment four times from nothing: 20 GB of download
python benchmarks/benchmark.py loader --data DIR   # DIR holds MNIST/raw
python benchmarks/benchmark.py watch           # what our detectors cost: five minutes
python benchmarks/benchmark.py schedule        # 10,000 toy runs: ten minutes
python benchmarks/benchmark.py catalogue       # every bug bare, with -j 1 and with -j 2: half an hour
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import scale

from evaluation import campaign, detectors
from runner import build, environment
from runner.catalog import Catalog
from runner.progress import on_stderr
from runner.session import Session
from runner.settings import Options

ROOT = Path(__file__).resolve().parent.parent
TRAINBUGS = [sys.executable, "-m", "runner"]
ENVIRONMENT = environment.load(ROOT, "torch-2.2.2")


def seconds(command, **options):
    start = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=ROOT, **options)
    return time.perf_counter() - start


def interleaved(repeats, *commands):
    """Seconds of each command, measured in turns so that a busy moment of the machine meets all of them."""
    times = [[seconds(command) for command in commands] for _ in range(repeats)]
    return [list(column) for column in zip(*times, strict=True)]


def show(name, times, limit=""):
    low, middle, high = min(times), statistics.median(times), max(times)
    print(f"{name:48s} min {low:7.3f}  median {middle:7.3f}  max {high:7.3f} s  {limit}", flush=True)
    return middle


def bench_list(arguments):
    bare, mine = interleaved(15, [sys.executable, "-c", "pass"], [*TRAINBUGS, "list"])
    base = show("python -c pass", bare)
    middle = show("trainbugs list", mine, "(limit 0.25)")
    print(f"ratio {middle / base:.1f}\n")


def bench_run(arguments):
    built = build.build(ENVIRONMENT, on_stderr())
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "bugs" / "PyTorch-115607" / "simple_fixed.py"
        parameters = Path(folder) / "parameters.json"
        case = Catalog(ROOT).bug("PyTorch-115607").cases["simple"]
        values = {**case.parameters, "device": "cpu", "output": f"{folder}/metrics"}
        parameters.write_text(json.dumps({"parameters": values}))
        run = [*TRAINBUGS, "run", "PyTorch-115607/simple/fixed", "--device", "cpu", "--force", "--results", folder]
        bare, mine = interleaved(11, [built.python, script, parameters], run)
    base = show("python simple_fixed.py", bare)
    middle = show("trainbugs run PyTorch-115607/simple/fixed", mine)
    print(f"overhead {middle - base:.3f} s (limit 0.5), ratio {middle / base:.2f}\n")


def bench_warm(arguments):
    build.build(ENVIRONMENT, on_stderr())
    command = [*TRAINBUGS, "env", "build", "torch-2.2.2"]
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory(dir=environment.cache_root()) as folder:
            times.append(seconds(command, env=os.environ | {"TRAINBUGS_CACHE": folder}))
    show("trainbugs env build, packages in uv's cache", times, "(limit 3)")
    print()


def bench_cold(arguments):
    mine, theirs = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory(dir=environment.cache_root()) as folder:
            caches = {"TRAINBUGS_CACHE": f"{folder}/trainbugs", "UV_CACHE_DIR": f"{folder}/uv"}
            mine.append(seconds([*TRAINBUGS, "env", "build", "torch-2.2.2"], env=os.environ | caches))
            shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=environment.cache_root()) as folder:
            pip = [f"{folder}/venv/bin/python", "-m", "pip", "install", "--no-cache-dir", "--require-hashes", "-r"]
            begin = seconds([sys.executable, "-m", "venv", f"{folder}/venv"])
            theirs.append(begin + seconds([*pip, ENVIRONMENT.lock]))
    base = show("python -m venv, pip install, nothing cached", theirs)
    middle = show("trainbugs env build, nothing cached", mine)
    print(f"ratio {base / middle:.1f} times as fast (limit 2)\n")


def bench_loader(arguments):
    built = build.build(ENVIRONMENT, on_stderr())
    script = ROOT / "benchmarks" / "loader.py"
    subprocess.run([built.python, script, arguments.data], check=True)


def bench_watch(arguments):
    """Seconds of training on SO-60335387/digits, bare and under each of our detectors, in turns."""
    chosen = [detectors.load(ROOT, name) for name in ("api-sequence", "gradient-cycle", "optimizer-progress")]
    plan = campaign.Campaign(chosen, bugs=["SO-60335387/digits"], with_controls=False, repeats=arguments.repeats)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Catalog(ROOT), Options(results=Path(folder), device="cpu"), on_stderr())
        for record in campaign.run(plan, session).overheads:
            base = show("bare", record.bare)
            middle = show(record.detector, record.watched)
            print(f"ratio {middle / base:.3f} (limit 1.05)\n")


BENCHES = {
    "list": bench_list,
    "run": bench_run,
    "warm": bench_warm,
    "cold": bench_cold,
    "loader": bench_loader,
    "watch": bench_watch,
    "schedule": scale.bench_schedule,
    "catalogue": scale.bench_catalogue,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=f"{', '.join(BENCHES)}; default: list run warm")
    parser.add_argument("--data", type=Path, default=os.environ.get("TRAINBUGS_DATA"), help="holds MNIST/raw")
    parser.add_argument("--repeats", type=int, default=9, help="of watch: bare and watched runs; default: 9")
    arguments = parser.parse_args()
    unknown = set(arguments.what) - set(BENCHES)
    if unknown or ("loader" in arguments.what and not arguments.data):
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "loader needs --data")
    for name in arguments.what or ["list", "run", "warm"]:
        print(f"# {name}")
        BENCHES[name](arguments)


if __name__ == "__main__":
    main()
