"""The subcommand why: shows the root cause of a bug."""

from dataclasses import dataclass

from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_quiet, add_session_options

HELP = Help(
    "run the why.py of a bug, which shows the root cause in a version of PyTorch",
    ["why PyTorch-115607", "why PyTorch-115607 --environment torch-2.13.0"],
)


@dataclass(frozen=True)
class WhyOptions:
    """The options of `trainbugs why`."""

    bug: str
    session: Options
    quiet: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add why."""
    parser = add_command(subparsers, "why", show_cause, WhyOptions, HELP)
    parser.add_argument("bug", metavar="BUG", help="ID of a bug, or a bug directory")
    texts = {
        "environment": "pinned environment to use; default: the bug's",
        "inject": "put the fault back first",
    }
    add_session_options(parser, "python", "trust_environments", **texts)
    add_quiet(parser)


def show_cause(options: WhyOptions) -> ExitStatus:
    """Print what the bug's why.py prints."""
    from runner.environments.runtime import Runtimes
    from runner.progress.lines import on_stderr
    from runner.session.explain import explain, programs

    catalog, session = api.load(), options.session
    bug = catalog.bug(options.bug)
    # Raises UsageError before anything is built.
    programs(bug, session.inject)
    progress = on_stderr(options.quiet)
    runtimes = Runtimes(
        catalog.root, progress, "cpu", session.python, trust=session.trust_environments
    )
    runtime = runtimes.get(session.environment or str(bug.brought or bug.environment))
    print(explain(bug, runtime, session.inject), end="")
    return SUCCESS
