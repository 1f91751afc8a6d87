"""The subcommand submit: what a maintainer would say of a submission."""

from dataclasses import dataclass
from pathlib import Path

from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import FAILURE, SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json
from trainbugs.cli.terminal import show_text

HELP = Help(
    "check a detector that you want to submit, as a maintainer will",
    ["submit --check submissions/my-detector"],
)


@dataclass(frozen=True)
class SubmitOptions:
    """The options of `trainbugs submit`."""

    check: Path
    json: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add submit."""
    parser = add_command(subparsers, "submit", check_submitted, SubmitOptions, HELP)
    parser.add_argument(
        "--check",
        type=Path,
        required=True,
        metavar="DIR",
        help="submissions/NAME; nothing is run, and nothing is sent anywhere",
    )
    add_json(parser)


def check_submitted(options: SubmitOptions) -> ExitStatus:
    """Print what is missing or wrong; FAILURE where anything is."""
    from evaluation.submission_check import check_submission

    findings = check_submission(api.load(), options.check)
    if options.json:
        print_json({"problems": findings.problems, "notes": findings.notes})
    else:
        name = options.check.resolve().name
        state = "ready to be submitted" if not findings.problems else "not ready"
        lines = [f"{name}: {state}", *(f"problem: {problem}" for problem in findings.problems)]
        lines += [f"note: {note}" for note in findings.notes]
        show_text("\n  ".join(lines))
    return FAILURE if findings.problems else SUCCESS
