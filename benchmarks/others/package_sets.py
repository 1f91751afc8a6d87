"""Packages of others that programs import besides torch: pinned sets, installed apart from the
environment.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
UV = Path(sys.executable).parent / "uv"


def installed(names, python, cache):
    """Folders with the packages of these sets for this interpreter, one for each set."""
    sets = json.loads((HERE / "packages.json").read_text())
    return [_folder(sets[name], python, cache) for name in names]


def _folder(pins, python, cache):
    key = hashlib.sha256(json.dumps([str(python), pins]).encode()).hexdigest()[:16]
    folder = cache / key
    if folder.exists():
        return folder
    part = cache / f"{key}.part"
    shutil.rmtree(part, ignore_errors=True)
    command = [UV, "pip", "install", "-q", "--no-deps", "--python", python, "--target", part, *pins]
    subprocess.run(list(map(str, command)), check=True)
    part.rename(folder)
    return folder
