"""The page about `trainbugs watch`, with its programs and what the command prints of them.

`PYTHONPATH=.:tests python -m support.watch_page` writes both anew. A program is a block of
```python below a link to it; an output is a block of ```text below a command. A line `<!-- shows
NAME -->` above the command says which invariant the output is about: where the sanitizer has none
of that name yet, the block stays as it is.
"""

import re
import subprocess
import sys
from pathlib import Path

from evaluation.watching import invariants
from runner.environments import builder, spec
from runner.progress.lines import on_stderr
from support.paths import ROOT

PAGE = ROOT / "docs" / "watch.md"
PROGRAM = re.compile(
    r"(?P<head>\]\((?P<path>watch/\w+\.py)\)[^\n]*\n\n```python\n)(?P<code>.*?)^```", re.M | re.S
)
OUTPUT = re.compile(
    r"(?P<head>^<!-- shows (?P<name>[\w-]+) -->\n```sh\ntrainbugs (?P<words>watch [^\n]*)\n```\n\n```text\n)"
    r"(?P<output>.*?)^```",
    re.M | re.S,
)


def known() -> set[str]:
    """The names of the invariants that there are."""
    return {invariant.name for invariant in invariants.read(ROOT / "detectors" / "sanitizer")}


def with_programs(text: str) -> str:
    """The page with its programs as they are."""
    return PROGRAM.sub(
        lambda found: f"{found['head']}{(PAGE.parent / found['path']).read_text()}```", text
    )


def with_outputs(text: str, python: Path) -> str:
    """The page with what its commands print, whose invariants there are."""
    names = known()

    def filled(found: "re.Match[str]") -> str:
        return (
            f"{found['head']}{output(found['words'], python)}```"
            if found["name"] in names
            else found[0]
        )

    return OUTPUT.sub(filled, text)


def output(words: str, python: Path) -> str:
    """What a command of the page prints, on both streams."""
    verb, *arguments = words.split()
    command = [sys.executable, "-m", "trainbugs", verb, "--python", str(python), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


if __name__ == "__main__":
    TORCH = builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr()).python
    PAGE.write_text(with_outputs(with_programs(PAGE.read_text()), TORCH))
