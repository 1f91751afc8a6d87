"""What does TorchFix say of the program's text?"""

import re
import sys
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

MESSAGE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):\d+: (?P<code>TOR\d+) (?:\[\*\] )?(?P<text>.*)$")


def check(target, state):
    command = [Path(sys.executable).with_name("torchfix"), "--select", "ALL", "-j", "1", target.script]
    status, _, stderr = run(command, target.directory, target.timeout_s, log="torchfix")
    if status or "Finished checking 1 files" not in stderr:
        raise ToolError(f"torchfix ended with {status}: {error_line(stderr)}")
    found = [MESSAGE.match(line) for line in Path("torchfix.out").read_text().splitlines()]
    alarms = [alarm(m["code"], m["text"], file=m["file"], line=int(m["line"])) for m in found if m]
    return {"alarms": alarms, "artefacts": ["torchfix.out"]}


if __name__ == "__main__":
    main(check)
