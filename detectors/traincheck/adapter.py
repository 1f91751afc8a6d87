"""Which of the invariants that TrainCheck infers from clean runs does the program violate?

It traces references (the first ten steps and every tenth from then on, which is its policy for checking) and infers
invariants, without the two relations that its tutorial says to ignore. It checks the references themselves: what one of
them violates is dropped. It traces the program in the same way, and checks what is left.
"""

import json
import os
import re
import shlex
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

SITE = Path(__file__).with_name("site")
SAMPLING = ["--sampling-interval", "10", "--warm-up-steps", "10"]
NOISY = ["FunctionCoverRelation", "FunctionLeadRelation"]


def tool(module, arguments, target, log):
    """Run a module of TrainCheck with the program's interpreter; returns the seconds."""
    command = [target.python, "-m", f"traincheck.{module}", *arguments]
    status, seconds, stderr = run(command, ".", target.timeout_s, target.packages, log)
    if status:
        raise ToolError(f"{log} ended with {status}: {what_was_said(Path(f'{log}.out').read_text(), stderr)}")
    return seconds


def what_was_said(out, err):
    """The last line that names an exception, among the output first: it goes on to draw bars of progress after it."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    named = [line.strip() for line in f"{err}\n{plain}".splitlines() if re.match(r"\s*[\w.]+(Error|Exception)\b", line)]
    return named[-1][:300] if named else error_line(plain if plain.strip() else err)


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
    arguments = ["-p", directory / target.script, "-s", script, "--output-dir", out, *SAMPLING, *tracked]
    return tool("collect_trace", arguments, target, out)


def objects(path):
    """The JSON objects that stand one after the other in a file."""
    text, decoder, position = path.read_text().rstrip(), json.JSONDecoder(), 0
    while position < len(text):
        found, position = decoder.raw_decode(text, position)
        yield found
        position = re.compile(r"\s*").match(text, position).end()


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
    arguments = ["-f", *folders, "--disable-relation", *NOISY, "-o", inferred]
    tool("infer_engine", arguments, references[0], "infer")
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
