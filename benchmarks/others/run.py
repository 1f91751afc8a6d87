"""Does `trainbugs watch` accuse correct programs that others have written? A table of what it says
of each.

    python run.py table.csv [--sources DIR] [--only NAME …]

`programs.json` names them: the repository with commit and licence, the script, and its arguments,
which keep it short; the environment, where it is not torch-2.2.2. Each runs as it is, in a checkout
of its own, on a little made data; nothing of it is kept here. DIR holds clones that are there
already, as OWNER+NAME; others are cloned. Rows that the table has are kept: it may be stopped, and
goes on.

`wrong` says of a program what its source was seen to do wrong before the first run, by the
invariant that should see it.
"""

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 600
FIELDS = (
    "name", "repository", "commit", "licence", "torch", "status", "optimizers", "steps", "seconds", "errors", "wrong",
    "advice", "failed",
)  # fmt: skip
# Whole batches of 100 for training: a program for the 60000 of MNIST may rely on them.
IMAGES = {"train": 600, "t10k": 128}
LETTERS = 65
# With those of the question that minGPT asks its model.
CHARACTERS = " eotaniOGdm!,bcfghjklpqrsuvwxyz"


def digits(folder):
    """Files as those of MNIST: ten patterns of 28x28 pixels, with noise."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(0)
    patterns = random.integers(0, 160, (10, 28, 28))
    for part, count in IMAGES.items():
        labels = random.integers(0, 10, count).astype(numpy.uint8)
        images = (patterns[labels] + random.integers(0, 96, (count, 28, 28))).astype(numpy.uint8)
        sizes = numpy.array([count, 28, 28], ">i4").tobytes()
        (raw / f"{part}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + sizes + images.tobytes())
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(
            b"\0\0\x08\x01" + sizes[:4] + labels.tobytes()
        )


def words(folder):
    """A text of made words, in three parts."""
    random = numpy.random.default_rng(0)
    for name, lines in (("train", 300), ("valid", 40), ("test", 40)):
        with (folder / f"{name}.txt").open("w") as file:
            for _ in range(lines):
                numbers = random.geometric(0.1, 20)
                file.write(" ".join(f"w{number}" for number in numbers) + "\n")


def tokens(folder):
    """Numbers of letters, as nanoGPT's scripts prepare them."""
    random = numpy.random.default_rng(0)
    for name, count in (("train", 20000), ("val", 4000)):
        random.geometric(0.1, count).clip(0, LETTERS - 1).astype(numpy.uint16).tofile(
            folder / f"{name}.bin"
        )
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": LETTERS}))


def letters(folder):
    random = numpy.random.default_rng(0)
    text = "".join(
        CHARACTERS[place] for place in random.geometric(0.2, 5000).clip(0, len(CHARACTERS) - 1)
    )
    (folder / "input.txt").write_text(text + CHARACTERS)


MAKERS = {
    "digits": digits,
    "words": words,
    "tokens": tokens,
    "input": letters,
    "folder": lambda folder: None,
}


def environment(program):
    return program.get("environment", "torch-2.2.2")


def checkout(program, folder, sources):
    owner, name = program["repository"].split("/")
    local_clone = sources and sources / f"{owner}+{name}"
    source = (
        local_clone
        if local_clone and local_clone.exists()
        else f"https://github.com/{program['repository']}"
    )
    subprocess.run(["git", "clone", "-q", "--no-checkout", source, folder], check=True)
    # Texts that made data stand in for are left out: they may be large, and are not to be mixed
    # with them.
    left_out = "".join(f"!/{place}/*.txt\n" for place in program.get("data", {}))
    (folder / ".git" / "info" / "sparse-checkout").write_text(f"/*\n{left_out}")
    git = [
        "git",
        "-C",
        folder,
        "-c",
        "core.sparseCheckout=true",
        "-c",
        "core.sparseCheckoutCone=false",
    ]
    subprocess.run([*git, "checkout", "-q", program["commit"]], check=True)
    for place, kind in program.get("data", {}).items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        MAKERS[kind](folder / place)


def watched(program, python, sources):
    """The row of a program."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, report_path = Path(temporary, "program"), Path(temporary, "report.json")
        checkout(program, folder, sources)
        script = folder / program["script"]
        command = [
            sys.executable,
            "-m",
            "trainbugs",
            "watch",
            "--python",
            python,
            "--json",
            report_path,
        ]
        paths = [str(ROOT), *([str(folder / program["path"])] if "path" in program else [])]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run(
            [*map(str, command), script.name, *program["arguments"]],
            cwd=script.parent, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        if not report_path.exists():
            raise SystemExit(
                f"{program['name']}: no report\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        result = json.loads(report_path.read_text())
    if result["status"]:
        print(done.stdout[-1000:], done.stderr[-2000:], file=sys.stderr)
    return row(program, result)


def row(program, result):
    report = result["report"]
    alarms = report["alarms"]
    errors = {alarm["code"] for alarm in alarms if alarm["severity"] == "error"}
    advice = {alarm["code"] for alarm in alarms if alarm["severity"] == "info"}
    failed = {alarm["message"].split()[0] for alarm in alarms if alarm["code"] == "failed"}
    return {
        **{name: program[name] for name in FIELDS[:4]},
        "torch": environment(program).removeprefix("torch-"),
        "status": result["status"],
        "optimizers": report["optimizers"],
        "steps": report["steps"],
        "seconds": round(report["loop_s"], 1),
        "errors": " ".join(sorted(errors)),
        "wrong": " ".join(sorted(program.get("wrong", ()))),
        "advice": " ".join(sorted(advice - {"failed"})),
        "failed": report["error"] or " ".join(sorted(failed)),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--sources", type=Path, help="a folder of clones, OWNER+NAME")
    parser.add_argument("--only", nargs="+", help="names of programs; default: all")
    arguments = parser.parse_args()
    programs = json.loads((HERE / "programs.json").read_text())
    rows = list(csv.DictReader(arguments.table.open())) if arguments.table.exists() else []
    for program in programs:
        if program["name"] in {row["name"] for row in rows} or program["name"] not in (
            arguments.only or [program["name"]]
        ):
            continue
        python = builder.build(spec.load(ROOT, environment(program)), on_stderr()).python
        rows.append(watched(program, python, arguments.sources))
        print(*(f"{name} {rows[-1][name]};" for name in FIELDS[5:]), program["name"], flush=True)
        with arguments.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
