"""The subcommand completion: prints a script by which a shell completes commands,
options and names.
"""

import argparse
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from runner.bugs.catalog import NAME, Catalog
from runner.errors import CatalogError, TrainbugsError, UsageError
from trainbugs import api
from trainbugs.cli.commands.watch import SANITIZER, SCRIPT
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command
from trainbugs.cli.root_parser import build_parser

HELP = Help(
    "print a script that lets your shell complete commands and names",
    [
        "completion bash > ~/.trainbugs.bash     # source it in ~/.bashrc",
        "completion zsh > ~/.zfunc/_trainbugs    # a folder of $fpath",
        "completion tcsh > ~/.trainbugs.tcsh     # source it in ~/.tcshrc",
    ],
)
SHELLS = ("bash", "zsh", "tcsh")


@dataclass(frozen=True)
class CompletionOptions:
    """The options of `trainbugs completion`."""

    shell: str


def add_arguments(subparsers: Subparsers) -> None:
    """Add completion."""
    parser = add_command(subparsers, "completion", print_completion, CompletionOptions, HELP)
    parser.add_argument(
        "shell", choices=SHELLS, metavar="|".join(SHELLS), help="which shell it is for"
    )


def print_completion(options: CompletionOptions) -> ExitStatus:
    """Print the script for a shell."""
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise UsageError(
            "completion needs shtab, which is not installed; `pip install shtab`"
        ) from error

    root, kinds = build_parser(), _kinds(api.load())
    for argument in _arguments(root):
        kind = kinds.get(str(argument.metavar))
        # `complete` is an attribute that shtab looks for.
        if kind:
            argument.complete = kind.functions  # type: ignore[attr-defined]
        elif argument.metavar == "DIR":
            argument.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif argument.metavar in ("FILE", "PATH", "DIR|FILE", SCRIPT):
            argument.complete = shtab.FILE  # type: ignore[attr-defined]
    preamble = "\n".join(kind.definition(options.shell) for kind in dict.fromkeys(kinds.values()))
    print(shtab.complete(root, options.shell, preamble=preamble))
    return SUCCESS


@dataclass(frozen=True)
class Kind:
    """Names of one kind, which a shell completes; where a bug or a detector is expected a directory
    is one, too.
    """

    name: str
    words: tuple[str, ...]
    directories: bool

    @property
    def functions(self) -> dict[str, str]:
        """What completes them, by shell: a function for bash and zsh; tcsh has none,
        and takes no word with a /.
        """
        words = " ".join(word for word in self.words if "/" not in word)
        return {"bash": self._function, "zsh": self._function, "tcsh": f"({words})"}

    def definition(self, shell: str) -> str:
        """The definition of the function for a shell."""
        words = " ".join(self.words)
        if shell == "bash":
            lines = [
                f'compgen -W {shlex.quote(words)} -- "$1"',
                *(['compgen -d -- "$1"'] if self.directories else []),
            ]
        else:
            folders = " 'directories:directory:_files -/'" if self.directories else ""
            lines = [f"_alternative '{self.name}:{self.name}:({words})'{folders}"]
        body = "\n".join(f"  {line}" for line in lines)
        return f"{self._function}() {{\n{body}\n}}" if shell != "tcsh" else ""

    @property
    def _function(self) -> str:
        # By `dir` in the name shtab's script knows that a slash is to follow a directory.
        return f"_trainbugs_{'dir_or_' if self.directories else ''}{self.name}"


def _kinds(catalog: Catalog) -> dict[str, Kind]:
    """What completes an argument, by its metavar."""
    from evaluation.catalog import detectors
    from runner.environments import spec

    bugs, cases = _kind("bugs", catalog.ids(), True), _kind("cases", _cases(catalog), True)
    detector_names = detectors.names(catalog.root)
    return {
        "BUG": bugs,
        "BUG[/CASE]": cases,
        "BUG[/NAME]": _kind("studies", _studies(catalog), True),
        "BUG[/CASE[/VARIANT]]": cases,
        "BUG/CASE|none": _kind("timed", ["none", *cases.words], False),
        "NAME|DIR": _kind("detectors", detector_names, True),
        "DETECTOR": _kind("scored", detector_names, False),
        "NAME": _kind("environments", spec.names(catalog.root), False),
        "INVARIANT": _kind("invariants", _invariants(catalog), False),
    }


def _kind(name: str, words: Iterable[str], directories: bool) -> Kind:
    # bash evaluates the words of a list; names of folders could be anything.
    safe = filter(_is_safe, words)
    return Kind(name, tuple(safe), directories)


def _is_safe(word: str) -> bool:
    return all(NAME.fullmatch(part) for part in word.split("/"))


def _cases(catalog: Catalog) -> Iterator[str]:
    """BUG and BUG/CASE of all bugs that can be read."""
    for name in catalog.ids():
        try:
            yield from (name, *(case.id for case in catalog.bug(name).cases.values()))
        except TrainbugsError:
            continue


def _studies(catalog: Catalog) -> Iterator[str]:
    """BUG and BUG/NAME of all studies of bugs that can be read."""
    from runner.studies.definition import names

    for name in catalog.ids():
        try:
            studies = names(catalog.bug(name))
        except TrainbugsError:
            continue
        yield from (*([name] if studies else []), *(f"{name}/{study}" for study in studies))


def _invariants(catalog: Catalog) -> Iterator[str]:
    """The names of the sanitizer's invariants, if it is there."""
    from evaluation.watching import invariants

    with suppress(CatalogError):
        yield from (invariant.name for invariant in invariants.read(catalog.root / SANITIZER))


def _arguments(root: argparse.ArgumentParser) -> Sequence[argparse.Action]:
    """The arguments of all subcommands."""
    arguments: list[argparse.Action] = []
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for parser in action.choices.values():
                arguments += parser._actions
    return arguments
