"""Seconds of commands, measured in turns, and how they are shown."""

import resource
import statistics
import subprocess
import time
from math import comb
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def seconds(command, **options):
    start = time.perf_counter()
    subprocess.run(
        [str(part) for part in command], check=True, capture_output=True, cwd=ROOT, **options
    )
    return time.perf_counter() - start


def processor_seconds(command, **options):
    """Of the command and all that it starts and waits for: another job beside it adds little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def interleaved(repeats, *commands, measure=seconds):
    """Seconds of each command, measured in turns so that a busy moment of the machine meets all of
    them.
    """
    times = [[] for _ in commands]
    for _ in range(repeats):
        for command, column in zip(commands, times, strict=True):
            column.append(measure(command))
    return times


def show(name, times, limit=""):
    low, middle, high = min(times), statistics.median(times), max(times)
    print(
        f"{name:48s} min {low:7.3f}  median {middle:7.3f}  max {high:7.3f} s  {limit}", flush=True
    )
    return middle


def ratio(times, base):
    """The median ratio of pairs of neighbours, and its interval of at least 95 %, as words.

    What a busy moment of the machine does to one of a pair it mostly does to both. The interval is
    from order statistics, so it assumes nothing about how times are spread.
    """
    ratios = sorted(time / alone for time, alone in zip(times, base, strict=True))
    low, high = order_interval(ratios)
    return f"ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]"


def order_interval(values):
    """Two of the sorted `values` that hold their median with 95 % or more; the outermost ones where
    there are too few of them.
    """
    count = len(values)
    outside, rank = 0.0, 0
    while outside + comb(count, rank) / 2**count <= 0.025:
        outside += comb(count, rank) / 2**count
        rank += 1
    left = max(rank - 1, 0)
    return values[left], values[count - 1 - left]
