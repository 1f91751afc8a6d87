"""A program that runs a bug's script, and adds to each of its records what probe.py measures at that moment.

It is called as `python with_probe.py SCRIPT CONFIG`, beside probe.py, by the interpreter of the bug. probe.py has

    start()       called before the script, with no argument: it may put hooks into packages
    look(names)   called when the script has printed a record, with the variables that the printing function sees;
                  it returns a dict of further fields of that record

It must not change what the script does next: random numbers go on as if it had not looked. Processes that the script
starts run without it. This file imports nothing of the project.
"""

import importlib
import json
import random
import runpy
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, TextIO


class Watched:
    """Standard output that looks at each line: one that is a JSON object is a record, and is printed with more fields.

    What is printed between two ends of lines is held back until then.
    """

    def __init__(self, stream: TextIO, look: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
        self.stream, self.look, self.line = stream, look, ""
        self.found: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Print the text; the frame that called is the one of the script's function that prints."""
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            self.stream.write(self._told(line, sys._getframe(1)) + "\n")
        return len(text)

    def flush(self) -> None:
        """Pass on what has been printed, which may be less than a line."""
        self.stream.flush()

    def _told(self, line: str, frame: FrameType) -> str:
        try:
            record = json.loads(line)
        except ValueError:
            return line
        if not isinstance(record, dict):
            return line
        before = random_states()
        more = self.look({**frame.f_globals, **frame.f_locals})
        restore(before)
        both = sorted(set(more) & set(record))
        if both:
            raise SystemExit(f"probe.py: the record has {', '.join(both)} already")
        self.found.append(more)
        return json.dumps({**record, **more})


def random_states() -> list[tuple[Callable[[Any], object], Any]]:
    """What is to be restored: how to, and the state, of each generator of random numbers that is in use."""
    states: list[tuple[Callable[[Any], object], Any]] = [(random.setstate, random.getstate())]
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        states.append((numpy.random.set_state, numpy.random.get_state()))
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        states.append((torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_initialized():
            states.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    return states


def restore(states: list[tuple[Callable[[Any], object], Any]]) -> None:
    """Put all generators back to these states."""
    for put_back, state in states:
        put_back(state)


def main() -> None:
    """Run the script, and put what the probe has found into the file of its records."""
    sys.argv = sys.argv[1:]
    script, config = sys.argv
    sys.path.insert(0, str(Path(script).resolve().parent))
    probe = importlib.import_module("probe")
    probe.start()
    watched = Watched(sys.stdout, probe.look)
    sys.stdout = watched
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sys.stdout = watched.stream
        watched.stream.write(watched.line)
    path = Path(json.loads(Path(config).read_text())["parameters"]["output"] + ".json")
    records = json.loads(path.read_text())
    if len(records) != len(watched.found):
        raise SystemExit(f"probe.py: {len(watched.found)} records were printed, {path} holds {len(records)}")
    # No strict=: interpreters of bugs may be older than it.
    both = [{**record, **more} for record, more in zip(records, watched.found)]  # noqa: B905
    path.write_text(json.dumps(both, indent=1))


if __name__ == "__main__":
    main()
