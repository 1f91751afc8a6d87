"""How fast is trainbugs? Each claim is measured beside its alternative in one run,
and printed with the ratio.

    python benchmarks/benchmark.py [NAME] [OPTIONS]

| name | what | how long |
|---|---|---|
| (none) | list, run, warm | a minute |
| cold | builds the environment four times from nothing | 20 GB of download |
| loader --data DIR | DIR holds MNIST/raw | |
| watch | what our detectors cost | five minutes |
| sanitizer --repeats 3 | what `trainbugs watch` costs | half an hour |
| waiting --repeats 15 | builds, list, run, validate, site, each with its alternative | half an hour |
| schedule | 10,000 toy runs | ten minutes |
| dask | 10,000 jobs and toy runs on 64 simulated workers | ten minutes |
| catalogue | every bug bare, with -j 1 and with -j 2 | forty minutes |
| crowd | scripts that share cores | three minutes |
| isolation | what it costs that programs are kept to their paths | four minutes |
| records | a table of 100,000 records | two minutes, 0.5 GB of disk |
| manifest | a made environment of 19,000 files | half a minute |
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask_queue
import sanitizer
import scale
import waiting
from timing import interleaved, seconds, show

from evaluation.catalog import detectors
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from runner.bugs.catalog import Catalog
from runner.environments import builder, manifest, spec
from runner.progress.lines import on_stderr
from runner.sandbox import access as access_to
from runner.sandbox import process
from runner.sandbox.limits import Limits
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
# A user's commands find their bytecode; it is made in the first run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
TRAINBUGS = [sys.executable, "-m", "runner"]
ENVIRONMENT = spec.load(ROOT, "torch-2.2.2")


def bench_list(arguments):
    nothing = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        waiting.copies(Path(folder), 100)
        elsewhere = [sys.executable, "-c", waiting.LIST_ELSEWHERE, folder]
        bare, listed, many = interleaved(15, nothing, [*TRAINBUGS, "list"], elsewhere)
    base = show("python -c pass", bare)
    print(f"ratio {show('trainbugs list', listed) / base:.1f}")
    print(f"ratio {show('trainbugs list, 100 bugs', many) / base:.1f} (limit 8)\n")


def bench_run(arguments):
    built = builder.build(ENVIRONMENT, on_stderr())
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "bugs" / "Bolts-654" / "fixed.py"
        parameters = Path(folder) / "parameters.json"
        case = Catalog(ROOT).bug("Bolts-654").cases["iris"]
        values = {**case.program.parameters, "device": "cpu", "output": f"{folder}/metrics"}
        parameters.write_text(json.dumps({"parameters": values}))
        run = [
            *TRAINBUGS,
            "run",
            "Bolts-654/iris/fixed",
            "--seeds",
            "0",
            "--device",
            "cpu",
            "--force",
        ]
        run += ["--results", folder]
        bare, with_runner = interleaved(11, [built.python, script, parameters], run)
    base = show("python fixed.py (Bolts-654/iris)", bare)
    middle = show("trainbugs run Bolts-654/iris/fixed", with_runner)
    print(f"overhead {middle - base:.3f} s (limit 0.5), ratio {middle / base:.2f}\n")


def bench_warm(arguments):
    builder.build(ENVIRONMENT, on_stderr())
    command = [*TRAINBUGS, "env", "build", "torch-2.2.2"]
    times = []
    for _ in range(5):
        with tempfile.TemporaryDirectory(dir=spec.cache_root()) as folder:
            times.append(seconds(command, env=os.environ | {"TRAINBUGS_CACHE": folder}))
    show("trainbugs env build, packages in uv's cache", times, "(limit 3)")
    print()


def bench_cold(arguments):
    our_times, their_times = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory(dir=spec.cache_root()) as folder:
            caches = {"TRAINBUGS_CACHE": f"{folder}/trainbugs", "UV_CACHE_DIR": f"{folder}/uv"}
            our_times.append(
                seconds([*TRAINBUGS, "env", "build", "torch-2.2.2"], env=os.environ | caches)
            )
            shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=spec.cache_root()) as folder:
            pip = [
                f"{folder}/venv/bin/python",
                "-m",
                "pip",
                "install",
                "--no-cache-dir",
                "--require-hashes",
                "-r",
            ]
            begin = seconds([sys.executable, "-m", "venv", f"{folder}/venv"])
            their_times.append(begin + seconds([*pip, ENVIRONMENT.lock]))
    base = show("python -m venv, pip install, nothing cached", their_times)
    middle = show("trainbugs env build, nothing cached", our_times)
    print(f"ratio {base / middle:.1f} times as fast (limit 2)\n")


def bench_manifest(arguments):
    """Is an environment as it was built? What a session looks at first,
    and the reading of all files by `env check`.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        site = root / "lib" / "python3.11" / "site-packages"
        for number in range(19_000):
            folder_number = number % 1500
            path = (
                site
                / f"package{folder_number % 30}"
                / f"part{folder_number // 30}"
                / f"module_{number}.py"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"value = {number}\n" * 400)
        manifest.write(root, {})
        times = []
        for _ in range(11):
            start = time.perf_counter()
            assert manifest.changes(root) == []
            middle = time.perf_counter()
            assert manifest.contents(root, manifest.file_hashes(root)) == []
            times.append((middle - start, time.perf_counter() - middle))
    compared, loaded = zip(*times, strict=True)
    base = show("19,000 files hashed", loaded)
    print(
        f"ratio {base / show('19,000 files compared with the manifest', compared, '(limit 0.25)'):.1f}\n"
    )


KINDS = ("none", "landlock", "namespaces", "namespaces+landlock")


def bench_isolation(arguments):
    """A trivial program under each kind of isolation; then programs of three seconds and more,
    bare and by `run`.
    """
    with tempfile.TemporaryDirectory() as folder:
        spent_s = {kind: [] for kind in KINDS}
        for _ in range(arguments.isolated):
            for kind, measured in spent_s.items():
                measured.append(confined(["/bin/true"], Path(folder), kind))
    for measure_name, column in (("waited for", 0), ("processor time", 1)):
        times = {}
        for kind, pairs in spent_s.items():
            times[kind] = [pair[column] for pair in pairs]
        medians = {kind: show(f"/bin/true, {kind}, {measure_name}", times[kind]) for kind in KINDS}
        more = [
            strong - weak for strong, weak in zip(times[KINDS[-1]], times["landlock"], strict=True)
        ]
        print(
            f"{1000 * (medians['landlock'] - medians['none']):.1f} ms more by landlock than by none"
        )
        print(
            f"{1000 * statistics.median(more):.1f} ms more by {KINDS[-1]} than by landlock (limit "
            "15)"
        )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "x = 0\nwhile x < 10_000_000:\n    x += 1"], check=True)
    print(
        f"this machine adds 1 ten million times in {time.perf_counter() - start:.1f} s (usual: 0.5 "
        "s)\n",
        flush=True,
    )
    waiting.bench_three_seconds(11)
    bench_run(arguments)


def confined(argv, work, kind):
    """Seconds that a program took, and of the processor, under that kind of isolation."""
    access = access_to.open_access([work], access_to.own_interpreter(), kind)
    start, before = time.perf_counter(), processor_s()
    done = process.run(
        argv,
        cwd=work,
        env={},
        stdout=work / "1",
        stderr=work / "2",
        timeout_s=60,
        limits=Limits(access=access),
    )
    assert done.returncode == 0
    return time.perf_counter() - start, processor_s() - before


def processor_s():
    """Seconds of the processor that ended children have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def bench_loader(arguments):
    built = builder.build(ENVIRONMENT, on_stderr())
    script = ROOT / "benchmarks" / "loader.py"
    subprocess.run([built.python, script, arguments.data], check=True)


def bench_watch(arguments):
    """Seconds of training on SO-60335387/digits, bare and under each of our detectors, in turns."""
    chosen_detectors = [
        detectors.load(ROOT, name)
        for name in ("api-sequence", "gradient-cycle", "optimizer-progress")
    ]
    plan = CampaignOptions(
        chosen_detectors, bugs=["SO-60335387/digits"], controls="none", repeats=arguments.repeats
    )
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Catalog(ROOT), Options(results=Path(folder), device="cpu"), on_stderr())
        for record in campaign.run(plan, session).overheads:
            base = show("bare", record.bare)
            middle = show(record.detector, record.watched)
            print(f"ratio {middle / base:.3f} (limit 1.05)\n")


READ_EVERY_FILE = """
import sys
from pathlib import Path
from runner.results.record import read_record
from trainbugs.cli.terminal import show_table
records = [read_record(path) for path in Path(sys.argv[1]).rglob("*-seed*-*.json")]
rows = [["RUN", "SEED", "STATUS", "ENVIRONMENT", "TORCH", "DEVICE", "SECONDS", "MB", "RECORDS"]]
for made in sorted(records, key=lambda record: record.started):
    numbers = [f"{made.wall_s:.1f}", f"{made.peak_memory_mb:.0f}", str(len(made.metrics))]
    name = f"{made.bug}/{made.case}/{made.variant}"
    runtime = made.runtime
    where = [runtime.environment, runtime.torch or "-", runtime.device]
    rows.append([name, str(made.seed), made.status, *where, *numbers])
show_table(rows)
"""


def bench_records(arguments):
    """`trainbugs results` on 10,000 and 100,000 records: every file read, no index yet,
    the index there.
    """
    for count in (10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            write_records(Path(folder), count)
            command = [*TRAINBUGS, "results", "--results", folder]
            every = [
                spent([sys.executable, "-c", READ_EVERY_FILE, folder], count) for _ in range(2)
            ]
            first = [spent(command, count)]
            later = [spent(command, count) for _ in range(7)]
        name = f"{count:,} records, "
        base, _ = (
            show_spent(name + "every file read", every),
            show_spent(name + "no index yet", first),
        )
        limit = "(limit 2, 300 MB)" if count == 100_000 else ""
        print(
            f"ratio {base / show_spent(name + 'trainbugs results', later, limit):.1f} times as "
            "fast\n",
            flush=True,
        )


def write_records(folder, count):
    """Copies of expected records of all bugs, cases and variants, of at most 6 kB,
    with other seeds and keys.
    """
    real = [
        path
        for path in sorted(ROOT.glob("bugs/*/expected/*/*-seed0.json"))
        if path.stat().st_size <= 6000
    ]
    for path in real:
        data = json.loads(path.read_text())
        directory = folder / data["bug"] / data["case"]
        directory.mkdir(parents=True, exist_ok=True)
        for seed in range(real.index(path), count, len(real)):
            data |= {
                "seed": seed,
                "parameters": data["parameters"] | {"seed": seed},
                "key": f"{seed:064x}"[::-1],
            }
            name = f"{data['variant']}-seed{seed}-{data['key'][:12]}.json"
            (directory / name).write_text(json.dumps(data, indent=1) + "\n")


def spent(command, count):
    """Seconds and peak megabytes of a command that shows a table of `count` runs."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=output, cwd=ROOT)
        _, status, usage = os.wait4(child.pid, 0)
        end = time.perf_counter()
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        assert child.returncode == 0 and sum(1 for _ in output) == count + 1
    return end - start, usage.ru_maxrss * 1024 / 1e6


def show_spent(name, measured, limit=""):
    times, peaks = zip(*measured, strict=True)
    return show(name, times, f"{max(peaks):4.0f} MB  {limit}")


BENCHES = {
    "list": bench_list,
    "run": bench_run,
    "warm": bench_warm,
    "cold": bench_cold,
    "manifest": bench_manifest,
    "isolation": bench_isolation,
    "loader": bench_loader,
    "watch": bench_watch,
    "sanitizer": sanitizer.bench_sanitizer,
    "schedule": scale.bench_schedule,
    "catalogue": scale.bench_catalogue,
    "crowd": scale.bench_crowd,
    "dask": dask_queue.bench_dask,
    "records": bench_records,
    "waiting": waiting.bench_waiting,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", help=f"{', '.join(BENCHES)}; default: list run warm")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("TRAINBUGS_DATA"), help="holds MNIST/raw"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=9,
        help="of watch, sanitizer and waiting: pairs of runs; default: 9",
    )
    parser.add_argument(
        "--length", type=float, default=1.0, help="of sanitizer: this share of the long programs"
    )
    parser.add_argument(
        "--isolated", type=int, default=200, help="of isolation: runs of each kind; default: 200"
    )
    parser.add_argument("--bugs", nargs="+", help="of catalogue: BUG[/CASE]; default: all")
    parser.add_argument(
        "--seeds", nargs="+", type=int, help="of catalogue; default: those of each case"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.what) - set(BENCHES)
    if unknown or ("loader" in arguments.what and not arguments.data):
        parser.error(f"unknown: {', '.join(unknown)}" if unknown else "loader needs --data")
    for name in arguments.what or ["list", "run", "warm"]:
        print(f"# {name}")
        BENCHES[name](arguments)


if __name__ == "__main__":
    main()
