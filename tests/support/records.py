"""Run records of toys."""

from runner.environments import spec
from runner.execution.key import read_scripts, run_key
from runner.results.record import RunRecord, digest
from runner.results.runtime_identity import RuntimeIdentity
from runner.verdicts.outcome import Outcome
from support.copies import replace

RECORD = RunRecord(
    schema=1,
    key="0" * 64,
    bug="Toy-1",
    case="only",
    variant="buggy",
    seed=0,
    benign=False,
    parameters={"num_epoch": 3},
    runtime=RuntimeIdentity(
        environment="toy", pinned=False, torch=None, device="cpu", machine="Linux", threads=2
    ),
    lock=None,
    python="3.11.7",
    device_name=None,
    driver=None,
    status="ok",
    reason=None,
    exit_code=0,
    started="2026-11-21T11:00:00.000+00:00",
    wall_s=1.25,
    peak_memory_mb=10.0,
    data=None,
    revision=None,
    metrics=({"epoch": 1, "accuracy": 2.5},),
)


def pinned(record: RunRecord, target) -> RunRecord:
    """The record as if it had been made in the environment toy, of whatever lock there is."""
    root = target.bug.directory.parent.parent
    lock = spec.load(root, "toy").lock_hash if spec.names(root) else record.lock
    place = ("toy", lock, "True", record.python, record.runtime.torch)
    scripts = read_scripts(target.bug, target.case.program.variants[record.variant])
    key = run_key(
        target.case, record.variant, scripts, record.seed, record.runtime.device, place, record.data
    )
    changes = {"key": key, "metrics_digest": digest(key, record.metrics)}
    return replace(record, pinned=True, environment="toy", lock=lock, **changes)


def as_pinned(outcome: Outcome) -> Outcome:
    records = tuple(pinned(record, outcome.target) for record in outcome.records)
    return replace(outcome, records=records)


def record(variant, seed=0, accuracies=(1, 2, 3), status="ok", **changes):
    metrics = tuple(
        {"epoch": epoch, "accuracy": value} for epoch, value in enumerate(accuracies, 1)
    )
    values = dict.fromkeys(RunRecord.__struct_fields__)
    values |= {
        "bug": "Toy-1",
        "case": "only",
        "variant": variant,
        "seed": seed,
        "status": status,
        "metrics": metrics,
    }
    identity = dict.fromkeys(RuntimeIdentity.__struct_fields__)
    values["runtime"] = RuntimeIdentity(**(identity | {"device": "cpu"}))
    return replace(RunRecord(**values), **changes)


def without_times(records):
    return [replace(record, wall_s=0, peak_memory_mb=0, started="") for record in records]
