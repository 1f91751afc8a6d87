"""Silent training bugs of PyTorch programs, reproduced for real.

The Python interface for notebooks is `load`, `run` and `results`; it is documented in `trainbugs.api`.
"""

from trainbugs.api import load, results, run

__all__ = ["load", "results", "run"]
__version__ = "0.1.0"
