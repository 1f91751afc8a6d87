"""Which of the invariants that TrainCheck infers from clean runs does the program violate, traced at every step?

It traces the references without sampling, and infers invariants from all but the last one. Then it checks the
references themselves: an invariant that one of them violates, the last one included, says nothing and is dropped. It
traces the program as a whole, too, and checks what is left.
"""

import json
import os
import re
import shlex
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

SITE = Path(__file__).with_name("site")


def tool(module, arguments, target, log):
    """Run a module of TrainCheck with the program's interpreter; returns the seconds."""
    command = [target.python, "-m", f"traincheck.{module}", *arguments]
    status, seconds, stderr = run(command, ".", target.timeout_s, target.packages, log)
    if status:
        said = re.sub(r"\x1b\[[0-9;]*m", "", Path(f"{log}.out").read_text())
        raise ToolError(f"{log} ended with {status}: {error_line(said if said.strip() else stderr)}")
    return seconds


def trace(target, out):
    """Trace a program into the folder `out`; returns the seconds of the whole process."""
    directory = Path(target.directory)
    script = directory / "run.sh"
    # Its own way to call the program is without arguments, and with no other folder on PYTHONPATH than the program's.
    path = os.pathsep.join([str(SITE), *target.packages, str(directory)])
    words = [target.python, target.script, *(str(directory / word) for word in target.arguments)]
    script.write_text(f"export PYTHONPATH={shlex.quote(path)}\n{shlex.join(words)}\n")
    models = sorted(set(re.findall(r"(\w+)\.parameters\(\)", (directory / target.script).read_text())) - {"self"})
    tracked = ["--models-to-track", *models] if models else []
    arguments = ["-p", directory / target.script, "-s", script, "--output-dir", out, *tracked]
    return tool("collect_trace", arguments, target, out)


def objects(path):
    """The JSON objects that stand one after the other in a file."""
    text, decoder, position = path.read_text(), json.JSONDecoder(), 0
    while position < len(text.rstrip()):
        found, position = decoder.raw_decode(text, position)
        yield found
        position += len(text[position:]) - len(text[position:].lstrip())


def violations(folder, invariants, target, out):
    """What TrainCheck says of a trace: the violated invariants, each with the part of the trace that violates it."""
    tool("checker", ["-f", folder, "-i", invariants, "-o", out, "--no-html-report"], target, out)
    return list(objects(Path(out, folder, "failed.log")))


def as_text(invariant):
    """The same text for the same invariant: TrainCheck gives them no names."""
    return json.dumps(invariant, sort_keys=True)


def prepare(references, state):
    folders = [f"reference-{number}" for number, _ in enumerate(references, 1)]
    for target, folder in zip(references, folders):  # noqa: B905
        trace(target, folder)
    inferred = Path("inferred.json")
    tool("infer_engine", ["-f", *(folders[:-1] or folders), "-o", inferred], references[0], "infer")
    own = set()
    for target, folder in zip(references, folders):  # noqa: B905
        own |= {as_text(each["invariant"]) for each in violations(folder, inferred, target, f"own-{folder}")}
    lines = inferred.read_text().splitlines()
    kept = [line for line in lines if as_text(json.loads(line)) not in own]
    (state / "invariants.json").write_text("".join(f"{line}\n" for line in kept))


def check(target, state):
    invariants = state / "invariants.json"
    seconds = trace(target, "trace")
    failed = violations("trace", invariants, target, "checked")
    return {
        "alarms": [to_alarm(violation) for violation in failed],
        "training": {"seconds": seconds, "of": "process"},
        "invariants": {"checked": len(invariants.read_text().splitlines()), "violated": len(failed)},
        "artefacts": ["checked/trace/violations_summary.json"],
    }


def to_alarm(violation):
    steps = [entry.get("meta_vars.step") for entry in violation["trace"] if isinstance(entry, dict)]
    steps = [int(step) for step in steps if step is not None and step == step]
    apis = [param["api_full_name"] for param in violation["invariant"]["params"] if "api_full_name" in param]
    return alarm(
        violation["invariant"]["relation"],
        violation["invariant"]["text_description"],
        iteration=max(steps[-1], 1) if steps else None,
        api=apis[0] if apis else None,
    )


if __name__ == "__main__":
    main(check, prepare)
