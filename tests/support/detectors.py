"""The detectors of this repository, and toy detectors that are written by tests."""

import json
import textwrap

OWN = ("api-sequence", "gradient-cycle", "optimizer-progress")

HEAD = """\
import json, os, subprocess, sys, time
from pathlib import Path
from detector_kit import ToolError, alarm, main
"""


def write_detector(directory, adapter, **changes):
    """A detector named like its new directory, with that text of its adapter."""
    directory.mkdir(parents=True, exist_ok=True)
    described = {
        "schema": 1, "name": directory.name, "version": "1", "title": "a toy", "source": "here", "needs": ["source"],
        "adapter": "adapter.py", "alarm_rules": {"default": {}}, "timeout_s": 20,
    }  # fmt: skip
    (directory / "detector.json").write_text(json.dumps(described | changes))
    (directory / "adapter.py").write_text(HEAD + textwrap.dedent(adapter))
    return directory
