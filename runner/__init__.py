"""trainbugs: silent training bugs of PyTorch programs that really happen in front of you.

The Python interface for notebooks is `load`, `run` and `results`; it is documented in `runner.api`.
"""

from runner.api import load, results, run

__all__ = ["load", "results", "run"]
__version__ = "0.1.0"
