"""What can be typed after `trainbugs`? The command line: its subcommands, options, defaults and help."""

import argparse
from pathlib import Path

import evaluation.arguments
from runner import commands, env_commands
from runner.options import Commands, Parser, at_once, count, data, device, numbers, positive, results_folder
from runner.options import add as add_command


def parser() -> Parser:
    """The whole command line; `call` holds the function of runner.commands behind each subcommand."""
    root = Parser(
        prog="trainbugs",
        description="Silent training bugs of PyTorch programs, reproduced for real.",
        epilog="examples:\n  trainbugs list\n  trainbugs run PyTorch-115607\n  trainbugs figures\n\n"
        "`trainbugs COMMAND --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _list_and_info(made)
    _run(made)
    _figures_and_results(made)
    _checkout_new_and_validate(made)
    _env(made)
    _versions_and_why(made)
    evaluation.arguments.add_commands(made)
    return root


CALLS = {
    "list": commands.list_command,
    "info": commands.info_command,
    "run": commands.run_command,
    "figures": commands.figures_command,
    "results": commands.results_command,
    "checkout": commands.checkout_command,
    "validate": commands.validate_command,
    "new": commands.new_command,
    "env": env_commands.env_command,
    "versions": env_commands.versions_command,
    "why": env_commands.why_command,
}


def _add(to: Commands, name: str, text: str, examples: list[str]) -> Parser:
    return add_command(to, name, CALLS[name], text, examples)


def _list_and_info(to: Commands) -> None:
    examples = ["list", "list --label compiler --max-seconds 30", "list --needs 2-processes", "list --json"]
    made = _add(to, "list", "show the bugs and their cases", examples)
    made.add_argument("--label", metavar="TEXT", help="of this location, or with this in root cause or symptom")
    made.add_argument("--needs", metavar="WHAT", help="data, c++, gpu, 2-processes … or none")
    made.add_argument("--max-seconds", type=float, metavar="S", help="all runs of the case took no longer, together")
    made.add_argument("--json", action="store_true", help="as JSON")
    made.add_argument("--markdown", action="store_true", help="as a table for a README")
    made = _add(to, "info", "show what is known of a bug", ["info SO-60335387", "info SO-60335387 --json"])
    made.add_argument("bug", metavar="BUG", help="ID of a bug, or a bug directory")
    made.add_argument("--json", action="store_true", help="as JSON")


def _run(to: Commands) -> None:
    made = _add(
        to,
        "run",
        "run bugs and judge whether they reproduce",
        [
            "run PyTorch-115607",
            "run SO-60335387/digits --seeds 0 --figures",
            "run SO-60335387/lr1e-4 --data /path/to/folder   # that holds MNIST/raw",
            "run PyTorch-115607/simple --python ~/venv/bin/python --device cuda",
            "run PyTorch-115607 --inject --environment torch-2.13.0",
            "run --all -j 2",
        ],
    )
    made.set_defaults(status=2)
    made.add_argument("targets", nargs="*", metavar="BUG[/CASE[/VARIANT]]", help="what to run; also a bug directory")
    made.add_argument("--all", action="store_true", help="run the whole catalogue, less what is retired or lacks data")
    made.add_argument("--seeds", type=numbers, help="comma-separated, e.g. 0,1,2; default: those of the bug")
    made.add_argument("--device", type=device, default="auto", help="auto, cpu, cuda or cuda:N; default: auto")
    made.add_argument("--python", type=Path, metavar="PATH", help="an interpreter of your own, not the pinned one")
    made.add_argument("--environment", metavar="NAME", help="another pinned environment than the bug's")
    made.add_argument("--data", type=data, metavar="DIR", help="folder of data sets; default: $TRAINBUGS_DATA")
    made.add_argument("--timeout", type=positive, metavar="SECONDS", help="for each run; default: that of the bug")
    made.add_argument("--no-network", action="store_true", help="nothing but localhost for each run")
    made.add_argument("--max-memory", type=positive, metavar="GB", help="of each run; default: 90%% of the machine's")
    made.add_argument("--force", action="store_true", help="run again what has been run before")
    made.add_argument("--repeat", type=count, default=1, metavar="K", help="every run K times: stable or flaky?")
    at_once(made)
    made.add_argument(
        "--executor", default="local", metavar="WHERE", help="dask:HOST:PORT, dask:FILE or slurm; default: this machine"
    )
    made.add_argument(
        "--inject", action="store_true", help="put the fault back into a release that has it no more (see README)"
    )
    made.add_argument("--figures", action="store_true", help="draw the figures of what was run")
    made.add_argument("--update-expected", action="store_true", help="keep the records as the bug's expected ones")
    made.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="of figures; default: ./figures")
    results_folder(made)


def _figures_and_results(to: Commands) -> None:
    made = _add(
        to,
        "figures",
        "draw the figures of bugs from their records",
        ["figures", "figures SO-60335387 --from results --format pdf"],
    )
    made.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    made.add_argument(
        "--from", dest="source", choices=("expected", "results"), default="expected", help="whose records"
    )
    made.add_argument("--format", choices=("png", "pdf", "svg"), default="png", help="default: png")
    made.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="default: ./figures")
    results_folder(made)
    made = _add(to, "results", "show run records as a table", ["results", "results --csv all.csv SO-60335387"])
    made.add_argument("bugs", nargs="*", metavar="BUG", help="default: all")
    made.add_argument("--csv", metavar="FILE", help="write every record as a row of a CSV file; - for standard output")
    results_folder(made)


def _checkout_new_and_validate(to: Commands) -> None:
    made = _add(
        to,
        "checkout",
        "make a working copy of a bug that runs by hand",
        ["checkout SO-60335387 copy", "checkout SO-60335387/digits copy --blind"],
    )
    made.add_argument("target", metavar="BUG[/CASE[/VARIANT]]", help="what to copy")
    made.add_argument("directory", type=Path, metavar="DIR", help="a new directory")
    made.add_argument("--blind", action="store_true", help="neutral names, nothing that tells which variant is buggy")
    made = _add(to, "new", "make the skeleton of a new bug", ["new PyTorch-1", "new PyTorch-1 --directory my/own/bug"])
    made.add_argument("id", metavar="ID", help="its public ID")
    made.add_argument("--environment", default="torch-2.13.0", metavar="NAME", help="default: torch-2.13.0")
    made.add_argument("--directory", type=Path, metavar="DIR", help="a new directory; default: bugs/ID")
    made = _add(
        to,
        "validate",
        "check that bug directories are well formed",
        ["validate", "validate SO-60335387", "validate my/own/bug"],
    )
    made.add_argument("bugs", nargs="*", metavar="BUG|DIR", help="default: all")


def _env(to: Commands) -> None:
    made = _add(
        to,
        "env",
        "list, build, check or remove the environments of the bugs",
        ["env list", "env build torch-2.2.2", "env build torch-2.2.2 --torch-backend cpu", "env remove torch-2.2.2"],
    )
    made.add_argument("action", choices=("list", "build", "check", "remove"))
    made.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    made.add_argument("--torch-backend", metavar="NAME", help="build: uv's option, e.g. cpu: smaller, not hashed")
    made.add_argument("--force", action="store_true", help="build: anew, even if it is there")


def _versions_and_why(to: Commands) -> None:
    made = _add(
        to,
        "versions",
        "run the buggy scripts of bugs in many environments and map which versions are affected",
        [
            "versions PyTorch-115607 PyTorch-107076/eager --remove-after",
            "versions PyTorch-107076/eager --environments 'torch-2.[0-4].*'",
        ],
    )
    made.set_defaults(status=2)
    made.add_argument("targets", nargs="+", metavar="BUG[/CASE]", help="whose buggy scripts to run")
    made.add_argument("--environments", default="torch-*", metavar="GLOB", help="default: 'torch-*'")
    made.add_argument(
        "--remove-after", action="store_true", help="remove each environment that was not there before: 5 GB at a time"
    )
    made.add_argument("--seeds", type=numbers, help="comma-separated; default: the first one of each case")
    made.add_argument("--device", type=device, default="auto", help="auto, cpu, cuda or cuda:N; default: auto")
    made.add_argument("--data", type=data, metavar="DIR", help="folder of data sets; default: $TRAINBUGS_DATA")
    made.add_argument("--force", action="store_true", help="run again what has been run before")
    made.add_argument("--update-expected", action="store_true", help="keep the map as the bug's expected one")
    made.add_argument("--out", type=Path, default=Path("figures"), metavar="DIR", help="of the map; default: ./figures")
    results_folder(made)
    made = _add(
        to,
        "why",
        "show the root cause of a bug in a version of PyTorch, by the bug's own why.py",
        ["why PyTorch-115607", "why PyTorch-115607 --environment torch-2.13.0"],
    )
    made.add_argument("bug", metavar="BUG", help="ID of a bug, or a bug directory")
    made.add_argument("--environment", metavar="NAME", help="default: that of the bug")
    made.add_argument("--python", type=Path, metavar="PATH", help="an interpreter of your own, not the pinned one")
    made.add_argument("--inject", action="store_true", help="put the fault back first")
