"""What can be typed after evaluate, scores and detectors?"""

from pathlib import Path

from evaluation import commands
from runner.options import Commands, Parser, add, at_once, count, data, device, numbers, positive, results_folder


def add_commands(to: Commands) -> None:
    """Add detectors, evaluate and scores."""
    _detectors(to)
    _scores(to)


def _detectors(to: Commands) -> None:
    add(to, "detectors", commands.detectors_command, "show the detectors that can be evaluated", ["detectors"])
    made = add(
        to,
        "evaluate",
        commands.evaluate_command,
        "let detectors look at bugs, their fixed twins and clean controls, and score them",
        [
            "evaluate --detector api-sequence gradient-cycle optimizer-progress",
            "evaluate --detector my/own/detector --bugs SO-60335387/digits --no-controls",
        ],
    )
    made.set_defaults(status=2)
    made.add_argument(
        "--detector", nargs="+", action="extend", required=True, metavar="NAME|DIR",
        help="of `trainbugs detectors`, or a directory; several are scored side by side",
    )  # fmt: skip
    made.add_argument("--bugs", nargs="+", default=(), metavar="BUG[/CASE]", help="default: all whose data is there")
    made.add_argument("--no-controls", action="store_true", help="leave the clean controls out")
    made.add_argument("--seeds", type=numbers, help="comma-separated; default: the first one of each case")
    made.add_argument(
        "--references", nargs="+", choices=("same", "cross"), default=("same", "cross"),
        help="clean runs for detectors that learn: of the fixed twin, of other programs; default: both, scored apart",
    )  # fmt: skip
    made.add_argument(
        "--overhead", default="SO-60335387/digits", metavar="BUG/CASE|none", help="whose fixed program is timed"
    )
    at_once(made)
    made.add_argument("--repeats", type=count, default=3, help="bare and watched runs for the overhead; default: 3")
    made.add_argument("--timeout", type=positive, metavar="SECONDS", help="for each check; default: the detector's")
    made.add_argument("--device", type=device, default="auto", help="auto, cpu, cuda or cuda:N; default: auto")
    made.add_argument("--python", type=Path, metavar="PATH", help="an interpreter of your own, not the pinned one")
    made.add_argument("--data", type=data, metavar="DIR", help="folder of data sets; default: $TRAINBUGS_DATA")
    made.add_argument("--force", action="store_true", help="ask again what has been answered before")
    made.add_argument("--update-expected", action="store_true", help="keep the records as the committed ones")
    _scores_folder(made)
    results_folder(made)


def _scores(to: Commands) -> None:
    examples = ["scores", "scores --from results --format pdf"]
    made = add(to, "scores", commands.scores_command, "score detectors from their records", examples)
    made.add_argument("detectors", nargs="*", metavar="DETECTOR", help="default: all")
    made.add_argument(
        "--from", dest="source", choices=("expected", "results"), default="expected", help="whose records"
    )
    made.add_argument("--format", choices=("png", "pdf", "svg"), default="png", help="of figures; default: png")
    _scores_folder(made)
    results_folder(made)


def _scores_folder(made: Parser) -> None:
    made.add_argument("--out", type=Path, default=Path("scores"), metavar="DIR", help="default: ./scores")
