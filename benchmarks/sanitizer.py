"""What does `trainbugs watch` cost? For benchmark.py: two trainings of over a minute and two short
ones, bare and watched, in turns.

Processor time, of one thread: with several threads it would hold their waiting for each other,
which depends on what else runs. The command that starts the program is part of it.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from timing import interleaved, processor_seconds, ratio, show

from runner.bugs.catalog import Catalog
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

ROOT = Path(__file__).resolve().parent.parent
# Ten epochs, as the bug's case has, take seconds.
EPOCHS, STEPS = 100, 150
LONG = {"bare": "", "watch": "(limit 1.15)", "watch --light": "(limit 1.02)"}
SHORT = {"bare": "", "watch": "(limit 1.3)", "watch --light": ""}


def bench_sanitizer(arguments):
    python = builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr()).python
    with tempfile.TemporaryDirectory() as folder:
        for name, script in programs(Path(folder), arguments.length).items():
            watch = [sys.executable, "-m", "trainbugs", "watch", "--python", python]
            commands = {
                "bare": [python, *script],
                "watch": [*watch, *script],
                "watch --light": [*watch, "--light", *script],
            }
            times_of = interleaved(arguments.repeats, *commands.values(), measure=on_one_thread)
            measured = dict(zip(commands, times_of, strict=True))
            for mode, times in measured.items():
                limits = SHORT if name.startswith("short") else LONG
                compared = ratio(times, measured["bare"])
                show(f"{name}: {mode}", times, f"{compared} {limits[mode]}")
            print()


def on_one_thread(command):
    return processor_seconds(
        command, env=os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    )


def programs(folder, length):
    """By name, the script and its arguments; the long programs of this share of their length.

    What happens once weighs more in a shorter program: its ratio is an upper bound.
    """
    digits = Catalog(ROOT).bug("SO-60335387").cases["digits"].program.parameters
    parameters = folder / "parameters.json"
    values = {
        **digits,
        "num_epoch": round(EPOCHS * length),
        "device": "cpu",
        "output": f"{folder}/metrics",
    }
    parameters.write_text(json.dumps({"parameters": values}))
    return {
        "SO-60335387/digits, fixed": [ROOT / "bugs" / "SO-60335387" / "fixed.py", parameters],
        "transformer": [ROOT / "benchmarks" / "transformer.py", round(STEPS * length)],
        "short, a CNN": [ROOT / "benchmarks" / "short_trainings.py", "cnn"],
        "short, LBFGS": [ROOT / "benchmarks" / "short_trainings.py", "lbfgs"],
    }
