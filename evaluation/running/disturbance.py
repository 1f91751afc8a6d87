"""Records of a watched program, compared with its bare run:
a check counts where the program did what it does alone.

A monitor lives in the process that it watches. It can end that process early, or change what it
computes.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.model import ARGUMENTS, SCRIPT, Answer
from evaluation.running.program import ShownProgram
from runner.execution.execute import read_metrics
from runner.execution.launch import launch
from runner.field_types import Record
from runner.plurals import counted
from runner.verdicts.complete_runs import not_whole
from runner.verdicts.drift import distance

OnWait = Callable[[float], None]
# The records of another bare run, made here and now; None where it does not end well.
Again = Callable[[], Sequence[Record] | None]


@dataclass(frozen=True)
class ComparedAnswer:
    """An answer that was held against the bare run. `compared` says whether the values of the
    records were compared.

    It is False where only their number and fields could be: the program does not repeat itself
    here. It is None where nothing was compared: the detector does not run the program where it was
    laid out, or did not answer.
    """

    answer: Answer
    compared: bool | None


def compare_with_bare(
    answer: Answer, program: ShownProgram, folder: Path, required: bool, run_again: Again
) -> ComparedAnswer:
    """The answer of a detector that has run the program in the `folder`,
    or another one in its place.

    `required`: the program's records must be there, as after a run under the benchmark's own
    launcher.
    """
    if answer.status != "ok" or program.metrics is None:
        return ComparedAnswer(answer, None)
    if folder.is_symlink():
        return _broken("a link is in the place of the program's folder")
    path = folder / f"{program.run.parameters['output']}.json"
    if not required and not path.exists():
        return ComparedAnswer(answer, None)
    records, lack = read_metrics(path)
    if lack or not records:
        return _broken(str(lack))
    different_fields = sorted(_fields(records) ^ _fields(program.metrics))
    if different_fields:
        return _broken(f"the records of the program differ in {different_fields[0]!r}")
    return _compare_records(answer, program, records, run_again)


def _broken(reason: str) -> ComparedAnswer:
    return ComparedAnswer(Answer("tool_error", f"after the check: {reason}"), None)


def _compare_records(
    answer: Answer, program: ShownProgram, records: Sequence[Record], run_again: Again
) -> ComparedAnswer:
    """The answer, if the program recorded what it records alone.

    A bare run may be of another machine, and some programs do not repeat themselves. So the program
    is run alone once more where a difference is found: it counts where the two bare runs agree.
    """
    lack = not_whole(program.case, program.run.variant, records)
    if lack:
        return ComparedAnswer(_disturbed(f"its records are not whole: {lack}"), True)
    bare = program.metrics or ()
    if _difference(program, records, bare) is None:
        return ComparedAnswer(answer, True)
    second = run_again()
    difference = _difference(program, records, second or bare)
    if difference is None:
        return ComparedAnswer(answer, True)
    repeats_itself = second is not None and _difference(program, second, bare) is None
    if len(records) == len(bare) and not repeats_itself:
        return ComparedAnswer(answer, False)
    return ComparedAnswer(_disturbed(difference), True)


def _difference(
    program: ShownProgram, records: Sequence[Record], bare: Sequence[Record]
) -> str | None:
    """How records differ from those of a bare run, volatile metrics aside;
    None where they are the same.
    """
    if len(records) != len(bare):
        return f"{counted(len(records), 'record')} instead of {len(bare)}"
    volatile = program.case.oracle.volatile
    for number, (record, alone) in enumerate(zip(records, bare, strict=True), 1):
        if distance([record], [alone], volatile) == 0:
            continue
        name = _first_difference(record, alone, volatile)
        return f"record {number} differs from the bare run in {name!r}"
    return None


def _first_difference(record: Record, alone: Record, volatile: frozenset[str]) -> str:
    different_names = sorted(set(record) ^ set(alone))
    if different_names:
        return different_names[0]
    for name in sorted(record):
        if distance([{name: record[name]}], [{name: alone[name]}], volatile) != 0:
            return name
    return ""


def _disturbed(difference: str) -> Answer:
    return Answer("disturbed", f"the watched program did not do what it does alone: {difference}")


def _fields(records: Sequence[Record]) -> set[str]:
    return {name for record in records for name in record}


def run_bare_again(
    program: ShownProgram, scratch: Path, on_wait: OnWait
) -> Sequence[Record] | None:
    """The records of the program, run alone in a new folder inside of `scratch`;
    None where it does not end well.
    """
    run = program.run
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        directory = Path(folder) / "program"
        program.lay_out(directory)
        argv = [str(run.runtime.python_path), SCRIPT, *ARGUMENTS]
        finished = launch(argv, directory, run, timeout_s=run.timeout_s, on_wait=on_wait)
        records, lack = read_metrics(directory / f"{run.parameters['output']}.json")
    ended_well = finished.returncode == 0 and not finished.timed_out and not finished.exceeded
    return records if ended_well and lack is None else None
