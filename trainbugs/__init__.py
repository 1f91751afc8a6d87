"""Silent training bugs of PyTorch programs, reproduced for real.

The Python interface, for notebooks, is documented in `trainbugs.api` and shown in docs/python.md.
"""

from trainbugs.api import bugs, load, outcomes, plot, records, run, scores

__all__ = ["bugs", "load", "outcomes", "plot", "records", "run", "scores"]
__version__ = "0.1.0"
