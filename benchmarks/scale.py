"""How does the runner behave with many runs? Parts of benchmark.py: `schedule`,
`catalogue` and `crowd`.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from runner.bugs.catalog import Catalog
from runner.environments import spec
from runner.execution.local import LocalPool
from runner.execution.resources import Need, Slots
from runner.execution.scheduler import Job
from runner.progress.lines import Progress, on_stderr
from runner.sandbox.env import THREADS, clean_environment
from runner.session.options import Options
from runner.session.session import Session

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """\
import json, sys
seed = json.load(open(sys.argv[1]))["parameters"]["seed"]
json.dump([{"epoch": 1, "value": seed + OFFSET}], open("metrics.json", "w"))
"""


def quiet():
    return Progress(Path(os.devnull).open("w"))  # noqa: SIM115 - as long as the program


def toy(root, seeds):
    """A catalogue with one toy bug."""
    directory = root / "bugs" / "Toy-1"
    directory.mkdir(parents=True)
    for variant, offset in (("buggy", "0"), ("fixed", "1")):
        (directory / f"{variant}.py").write_text(SCRIPT.replace("OFFSET", offset))
    higher = {
        "statement": "fixed is higher",
        "variant": "fixed",
        "metric": "value",
        "minus": "buggy",
    }
    config = {
        "schema": 1, "id": "Toy-1", "title": "a toy", "source": "https://example.org", "environment": "none",
        "labels": {"location": "user code", "root_cause": "a", "symptom": "b"},
        "site": {"file": "buggy.py", "api": "print"}, "timeout_s": 60, "seeds": [0],
        "parameters": {"num_epoch": 1, "seed": 0, "device": "auto", "output": "metrics"},
        "plot": {"x": "epoch", "panels": [{"label": "value", "lines": [{"label": "value", "metric": "value"}]}]},
        "cases": {"only": {
            "title": "the case", "trigger": {"iteration": 1, "why": "toy"},
            "variants": {name: {"script": f"{name}.py"} for name in ("buggy", "fixed")},
            "expectations": [higher | {"reduce": "last", "op": "==", "value": 1}],
        }},
    }  # fmt: skip
    (directory / "config.json").write_text(json.dumps(config))
    return Catalog(root), tuple(range(seeds))


def bench_schedule(arguments):
    """What it costs to give out jobs that do nothing, and runs of a toy script per second,
    as their number grows.
    """
    for count in (1_000, 10_000, 100_000):
        jobs = [Job(str(number), Need(), number % 7, number) for number in range(count)]
        start = time.perf_counter()
        assert (
            sum(1 for _ in LocalPool(Slots(2), quiet()).do(jobs, lambda item, share, report: item))
            == count
        )
        seconds = time.perf_counter() - start
        print(
            f"{count:7d} jobs that do nothing: {seconds:6.2f} s, {seconds / count * 1e6:5.0f} µs "
            "each",
            flush=True,
        )
    for count in (100, 1_000, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            catalog, seeds = toy(Path(folder), count // 2)
            options = Options(
                results=Path(folder) / "results", python=Path(sys.executable), seeds=seeds, jobs=2
            )
            start = time.perf_counter()
            (outcome,) = Session(catalog, options, quiet()).run(catalog.select(["Toy-1"]))
            seconds = time.perf_counter() - start
            assert (outcome.verdict.outcome, len(outcome.records)) == ("REPRODUCED", count)
            print(
                f"{count:7d} toy runs, -j 2: {seconds:6.1f} s, {count / seconds:5.1f} runs a "
                "second",
                flush=True,
            )
    command = [
        sys.executable,
        "-c",
        SCRIPT.replace("OFFSET", "0"),
        str(ROOT / "bugs" / "SO-60335387" / "config.json"),
    ]
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(50):
            start = time.perf_counter()
            subprocess.run(command, check=True, cwd=folder)
            times.append(time.perf_counter() - start)
    print(
        f"the bare toy script, one after the other: {1 / statistics.median(times):.1f} a second\n"
    )


def bench_catalogue(arguments):
    """Seconds of the whole catalogue: each script by itself, one after the other,
    then by the runner: -j 1 on one core, -j 1, and -j 2.
    """
    seeds = tuple(arguments.seeds) if arguments.seeds else None
    options = Options(results=Path("unused"), device="cpu", seeds=seeds)
    session = Session(Catalog(ROOT), options, on_stderr())
    names = arguments.bugs or session.catalog.active()
    targets = [target for target in session.catalog.select(names) if not target.case.program.data]
    runs = [run for target in targets for run in session.plan(target)]
    bare = [_bare(run) for run in runs]
    print(
        f"{len(runs)} bare scripts: {sum(bare):7.1f} s together, the longest {max(bare):.1f} s",
        flush=True,
    )
    cores = sorted(os.sched_getaffinity(0))
    for jobs, used in ((1, cores[:1]), (1, cores), (2, cores)):
        os.sched_setaffinity(0, used)
        with tempfile.TemporaryDirectory() as folder:
            again = replace(options, results=Path(folder), jobs=jobs)
            start, busy = time.perf_counter(), _children_s()
            outcomes = Session(session.catalog, again, quiet()).run(targets)
            seconds, busy = time.perf_counter() - start, _children_s() - busy
        print(
            f"run -j {jobs} on {len(used)} cores: {seconds:7.1f} s, {seconds / sum(bare):.2f} of "
            f"the bare scripts' sum, {seconds / max(bare):.1f} times the longest; "
            f"{busy:.1f} s of processor time, {busy / seconds / len(used):.2f} of these cores; "
            f"{_verdicts(outcomes)}",
            flush=True,
        )
    print()


def _children_s():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _verdicts(outcomes):
    verdicts = {str(outcome.verdict.outcome) for outcome in outcomes}
    drift = max(outcome.drift or 0.0 for outcome in outcomes)
    return f"{', '.join(sorted(verdicts))}, drift {drift:g}"


def bench_crowd(arguments):
    """Seconds of a script alone, and of two and three at once upon the same cores,
    with libgomp's waiting and ours.
    """
    session = Session(
        Catalog(ROOT), Options(results=Path("unused"), device="cpu", seeds=(0,)), on_stderr()
    )
    (target,) = session.catalog.select(["SO-60335387/digits/fixed"])
    (run,) = session.plan(target)
    for together in (1, 2, 3):
        for name, variables in (
            ("libgomp's own", {"GOMP_SPINCOUNT": "300000"}),
            ("the runner's", {}),
        ):
            with ThreadPoolExecutor(together) as pool:
                start = time.perf_counter()
                list(pool.map(_bare, [run] * together, [variables] * together))
                seconds = time.perf_counter() - start
            print(
                f"{run.name}, {together} at once, spin count {name:13s}: {seconds:6.1f} s",
                flush=True,
            )
    print()


def _bare(run, variables=()):
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        for name, text in run.scripts.items():
            (directory / name).write_bytes(text)
        (directory / "config.json").write_text(json.dumps({"parameters": run.parameters}))
        environment = {
            "TRAINBUGS_CACHE": str(spec.cache_root()),
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
        }
        environment |= dict(variables)
        start = time.perf_counter()
        subprocess.run(
            [str(run.runtime.python_path), *run.arguments],
            cwd=folder, env=clean_environment(THREADS, environment), check=True, capture_output=True,
        )  # fmt: skip
        return time.perf_counter() - start
