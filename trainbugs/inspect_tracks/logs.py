"""What models have answered, from a log of inspect_ai."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

from runner.errors import ResultsError, UsageError
from runner.files import untrusted
from runner.files.untrusted import shown
from trainbugs.inspect_tracks.prompts import repair_answer, review_answer

ENDING = ".eval"
# Bytes of all that a log holds, unpacked; in memory they become three times as many.
MAX_LOG_BYTES = 1_000_000_000


def is_log(path: Path) -> bool:
    """Whether a file is a log by its name."""
    return path.suffix == ENDING


def reviews(path: Path) -> Iterator[dict[str, Any]]:
    """The answers of a log of trainbugs/review, as lines of a file of answers have them."""
    for model, sample, number in _samples(path):
        answer = review_answer(sample.output.completion) or {}
        usage = sum(item.total_tokens for item in sample.model_usage.values())
        line = {"id": sample.id, "sample": number, "model": model, "tokens": usage}
        yield line | {key: answer[key] for key in ("suspicion", "suspects") if key in answer}


def repairs(path: Path) -> Iterator[dict[str, Any]]:
    """The programs of a log of trainbugs/repair, as lines of a file of patches have them."""
    for model, sample, _ in _samples(path):
        program = repair_answer(sample.output.completion)
        yield {"id": sample.id, "model": model, **({"script": program} if program else {})}


def _samples(path: Path) -> Iterator[tuple[str, Any, int]]:
    """The model of a log with each of its samples, and which one of its task it is."""
    try:
        from inspect_ai.log import read_eval_log
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{shown(path)} is a log of inspect_ai: `pip install trainbugs[inspect]` reads it"
        ) from error
    try:
        # inspect_ai would wait for ever for a pipe that nobody writes to.
        with untrusted.open_plain(path) as file:
            _refuse_large(file)
            # By the path it would read what is there then, which need not be what was looked at.
            log = read_eval_log(file, format="eval")
    except Exception as error:
        raise ResultsError(f"{shown(path)}: cannot be read as a log: {error}") from error
    for sample in log.samples or ():
        yield log.eval.model, sample, sample.epoch - 1


def _refuse_large(archive: BinaryIO) -> None:
    """Raise UnsafeError where what an archive holds would not fit into memory.

    A thousand times as much as the archive itself may come out of it.
    """
    with ZipFile(archive) as log:
        size = sum(entry.file_size for entry in log.infolist())
    if size > MAX_LOG_BYTES:
        raise untrusted.UnsafeError(f"it unpacks to more than {MAX_LOG_BYTES} bytes")
    archive.seek(0)
