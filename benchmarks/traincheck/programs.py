"""Programs as TrainCheck is given them: a script, what it imports and its parameters,
in a folder of their own.
"""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from declared import ROOT, Declared

from runner.bugs.catalog import Catalog
from runner.environments import builder, spec
from runner.execution.key import read_scripts
from runner.progress.lines import on_stderr

TOOL = ROOT / "detectors" / "traincheck-full"
# A script as it is traced, and as it is.
SCRIPT, BARE = "program.py", "bare.py"


@dataclass(frozen=True)
class Place:
    """Where a case's programs are laid out, the interpreter of its bug,
    and the packages of TrainCheck.
    """

    folder: Path
    python: Path
    packages: Path


def prepare(declared: Declared, work: Path) -> Place:
    """Builds what is missing of the two environments."""
    bug = Catalog(ROOT).bug(declared.case.split("/")[0])
    environment = bug.cases[declared.case.split("/")[1]].program.variants["fixed"].environment
    python = builder.obtain(spec.load(ROOT, environment), on_stderr()).python
    tool = builder.obtain(spec.read("detector-traincheck-full", TOOL), on_stderr())
    (packages,) = tool.directory.glob("lib/python*/site-packages")
    return Place(work / declared.folder, python, packages)


def lay_out(declared: Declared, variant: str, seed: int, place: Place, name: str) -> Path:
    """A new folder with the program, and the shell script by which TrainCheck runs it with its
    arguments.
    """
    bug = Catalog(ROOT).bug(declared.case.split("/")[0])
    program = bug.cases[declared.case.split("/")[1]].program
    script = program.variants[variant].script.name
    folder = place.folder / "programs" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in read_scripts(bug, program.variants[variant]).items():
        if file == script:
            (folder / SCRIPT).write_text(_edited(declared, text.decode()))
        (folder / (BARE if file == script else file)).write_bytes(text)
    parameters = {**program.parameters, **declared.parameters, "seed": seed, "device": "cpu"}
    (folder / "config.json").write_text(json.dumps({"parameters": parameters}, indent=1))
    path = ":".join(map(str, (TOOL / "site", place.packages, folder)))
    words = [str(place.python), SCRIPT, str(folder / "config.json")]
    (folder / "run.sh").write_text(f"export PYTHONPATH={shlex.quote(path)}\n{shlex.join(words)}\n")
    return folder


def _edited(declared: Declared, text: str) -> str:
    for old, new in declared.edits:
        if text.count(old) != 1:
            raise SystemExit(
                f"{declared.case}: a text to be edited is there {text.count(old)} times, expected "
                "once"
            )
        text = text.replace(old, new)
    return text
