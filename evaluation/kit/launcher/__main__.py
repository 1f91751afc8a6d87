"""Starts the launcher: `python LAUNCHER OUT.json ... SCRIPT.py`, where LAUNCHER is the folder of this file."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The launcher lives in the script's process, and a script may import a module named `launcher`.
PACKAGE = "trainbugs_launcher"


def load(name):
    """The module of this name in this folder, as a part of PACKAGE."""
    if PACKAGE not in sys.modules:
        specification = spec_from_file_location(
            PACKAGE, str(FOLDER / "__init__.py"), submodule_search_locations=[str(FOLDER)]
        )
        package = module_from_spec(specification)
        sys.modules[PACKAGE] = package
        specification.loader.exec_module(package)
    return import_module(f"{PACKAGE}.{name}")


if __name__ == "__main__":
    # Python has put FOLDER there, whose modules could stand in for the script's.
    sys.path[0] = str(FOLDER.parent)
    load("command").main()
