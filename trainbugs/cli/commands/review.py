"""The subcommand review: programs for people and language models to judge, and their scores."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ResultsError, UsageError
from runner.files.untrusted import shown
from runner.plurals import counted
from runner.progress.streams import message
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import INVALID, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json, add_session_options
from trainbugs.cli.terminal import show_table
from trainbugs.cli.types import seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.review.scoring import ReviewScore

HELP = Help(
    "write programs for a person or a language model to review, and score the answers",
    [
        "review export --out tasks",
        "review export --out tasks --perturb 1",
        "review export --out tasks --plant 1",
        "review import answers.jsonl --key tasks/key.json --out scores",
    ],
)
ACTIONS = ("export", "import")
REVIEWS = "reviews.json"


@dataclass(frozen=True)
class ReviewOptions:
    """The options of `trainbugs review`."""

    action: str
    answers: tuple[Path, ...]
    key: Path | None
    out: Path | None
    perturb: int | None
    plant: int | None
    threshold: float | None
    json: bool
    session: Options

    def check(self) -> None:
        """Raise UsageError for options that the action does not have, or lacks."""
        if self.action == "export":
            if self.answers or self.key or self.threshold is not None:
                raise UsageError("answers, --key and --threshold are for review import")
            if self.out is None:
                raise UsageError("review export needs the folder to write: --out DIR")
            if self.perturb is not None and self.plant is not None:
                raise UsageError("name one of --perturb and --plant: planted pairs are rewritten")
        else:
            if self.perturb is not None or self.plant is not None:
                raise UsageError(
                    "--perturb and --plant are for review export; the key of the tasks has them"
                )
            if not self.answers or self.key is None:
                raise UsageError(
                    "review import needs files of answers, and --key DIR/key.json of the export"
                )
        if self.threshold is not None and not 0 <= self.threshold <= 100:
            raise UsageError(f"--threshold is {self.threshold:g}, expected 0 to 100")


def add_arguments(subparsers: Subparsers) -> None:
    """Add review."""
    parser = add_command(subparsers, "review", manage_reviews, ReviewOptions, HELP)
    parser.add_argument(
        "action",
        choices=ACTIONS,
        metavar="|".join(ACTIONS),
        help="export: write tasks; import: score answers",
    )
    parser.add_argument(
        "answers",
        nargs="*",
        type=Path,
        metavar="ANSWERS",
        help="import: files with an answer a line, or logs (.eval)",
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="import: key.json of the export")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="export: folder for tasks and key; import: folder for scores",
    )
    parser.add_argument(
        "--perturb",
        type=seed,
        metavar="SEED",
        help="export: rewrite the programs (names, order, layout)",
    )
    parser.add_argument(
        "--plant",
        type=seed,
        metavar="SEED",
        help="export: write pairs with and without a planted fault instead",
    )
    add_session_options(parser, "results")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="N",
        help="import: suspicion from which on a program counts as accused; default: 50",
    )
    add_json(parser)


def manage_reviews(options: ReviewOptions) -> ExitStatus:
    """Export tasks, or import answers."""
    options.check()
    return _export(options) if options.action == "export" else _import(options)


def _export(options: ReviewOptions) -> ExitStatus:
    from evaluation.catalog import controls
    from evaluation.exporting import KEY, TASKS, refuse_known_key
    from evaluation.records import rewritten_as
    from evaluation.review.planted import collect_planted
    from evaluation.review.tasks import collect_programs, write_tasks

    assert options.out is not None
    refuse_known_key(options.out)
    catalog = api.load()
    known_controls = controls.load(catalog.root)
    if options.plant is None:
        programs, left_out = collect_programs(catalog, known_controls, options.perturb)
    else:
        programs, left_out = collect_planted(
            catalog, known_controls, options.plant, options.session.results
        )
    for line in left_out:
        print(line, file=sys.stderr)
    try:
        write_tasks(options.out, programs, rewritten_as(options.perturb, options.plant))
    except OSError as error:
        raise ResultsError(f"{options.out}: cannot be written: {error.strerror}") from error
    print(f"{options.out / TASKS}: {counted(len(programs), 'program')}")
    print(f"{options.out / KEY}: what they are; show it to no reviewer")
    return SUCCESS


def _import(options: ReviewOptions) -> ExitStatus:
    """Score the answers; INVALID where some cannot be scored."""
    from evaluation.review.answers import collect_answers
    from evaluation.review.scoring import THRESHOLD, score_reviews
    from evaluation.review.tasks import read_review_key

    assert options.key is not None
    _refuse_twins(options.answers)
    key = read_review_key(options.key)
    # Of all files together: a second answer to the same sample is one too many.
    read = collect_answers(_values(options.answers), key.tasks)
    for problem in read.problems:
        print(f"trainbugs: {message(problem)}", file=sys.stderr)
    if not read.answers and not read.problems:
        raise ResultsError(f"{', '.join(map(shown, options.answers))}: holds no answer")
    threshold = THRESHOLD if options.threshold is None else options.threshold
    scores = score_reviews(key, read.answers, threshold)
    _show(scores, options)
    return INVALID if read.problems else SUCCESS


def _refuse_twins(paths: "Sequence[Path]") -> None:
    """Raise UsageError for a file that is named twice: its answers would count as two samples."""
    for index, path in enumerate(paths):
        if path.resolve() in {other.resolve() for other in paths[:index]}:
            raise UsageError(f"{shown(path)} is named twice; leave it out once")


def _values(paths: "Sequence[Path]") -> "Iterator[tuple[str, object]]":
    """What files and logs of inspect_ai hold, with its places.

    The samples of each log begin at 0: they are numbered after those that came before.
    """
    from evaluation.review.answers import read_values
    from trainbugs.inspect_tracks import logs

    before: Counter[tuple[object, object]] = Counter()
    for path in paths:
        answered: Counter[tuple[object, object]] = Counter()
        if logs.is_log(path):
            for number, answer in enumerate(logs.reviews(path), 1):
                task = (answer["model"], answer["id"])
                answered[task] += 1
                answer["sample"] += before[task]
                yield f"{shown(path)}, sample {number}", answer
        else:
            for place, value in read_values(path):
                if isinstance(value, dict):
                    answered[str(value.get("model")), str(value.get("id"))] += 1
                yield place, value
        before += answered


def _show(scores: "Sequence[ReviewScore]", options: ReviewOptions) -> None:
    """Print the scores, and write them to the folder that is named."""
    import json

    import msgspec

    from evaluation.review.scoring import ROW
    from runner.files.atomic import write_text

    document = {"schema": 1, "scores": msgspec.to_builtins(scores)}
    # A file of mere mistakes overwrites no scores.
    if options.out is not None and scores:
        options.out.mkdir(parents=True, exist_ok=True)
        write_text(options.out / REVIEWS, json.dumps(document, indent=1) + "\n")
    if options.json:
        print_json(document)
        return
    if not scores:
        print("no answer")
        return
    show_table([tuple(ROW), *map(_row, scores)])


def _row(score: "ReviewScore") -> tuple[str, ...]:
    from evaluation.review.scoring import ROW

    return tuple(cell(score) for cell in ROW.values())
