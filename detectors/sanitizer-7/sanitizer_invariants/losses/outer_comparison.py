"""An accuracy compares each prediction with its own label."""

import linecache
import os
import re
import sys

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.invariant import Invariant

COMPARES = re.compile(r"[=!]=|\.(eq|ne)\(")
REDUCES = re.compile(r"\.(mean|sum|count_nonzero)\((?!\s*(dim|axis|-?\d))")
# Whoever asks for any of many wants all pairs.
CHOOSES = re.compile(r"\.(any|all)\(")


class OuterComparison(Invariant):
    """No share of right predictions is counted by `(n, 1) == (n,)`: broadcast, it is n times n.

    Why: each prediction is then compared with the labels of all samples. What comes out is how
    often a label would be right for any sample.

    Of `==`, `!=`, `eq` and `ne` of plain tensors, in a line of the program that adds up the result,
    or takes its mean. The n is the number of rows that a module has just given.

    Excepted: a second axis that was added on purpose to what has one (a view, `unsqueeze`, an
    index), as for a matrix of pairs; numbers compared with themselves, or with 0 to n - 1; n of 1;
    rows of which all are the same, where the share is the same as well.

    Cost: a comparison of sizes for each comparison of tensors; a look at outputs of modules.
    """

    NAME = "outer-comparison"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.sizes = ()

    def after_forward(self, module, arguments, options, output):
        tensors = copies.list_tensors(output)[:8]
        self.sizes = tuple(len(tensor) for tensor in tensors if tensor.dim())

    def after_comparison(self, first, second, result):
        if not is_outer(first, second):
            return
        size = len(result)
        if size in self.sizes and is_counted(sys._getframe(1)):
            self.report(
                f"predictions and labels of shapes {tuple(first.shape)} and {tuple(second.shape)} "
                f"are compared, all {size} with all: {size * size} answers are counted",
                api="torch.Tensor.eq",
            )


def is_outer(first, second):
    """Whether a column is compared with a row of as many other numbers, which nobody made so."""
    if first.dim() + second.dim() != 3 or 0 in (first.dim(), second.dim()):
        return False
    column, row = (first, second) if first.dim() == 2 else (second, first)
    size = len(row)
    if tuple(column.shape) != (size, 1) or size < 2 or is_made(column):
        return False
    if column.is_meta or row.is_meta or column.is_sparse or row.is_sparse:
        return False
    numbers = column.detach().flatten()
    counted = torch.arange(size, device=row.device)
    is_index = bool((row == counted).all()) or bool((numbers == counted.to(numbers.device)).all())
    is_same = bool((numbers == row).all()) or bool((row == row[0]).all())
    return not is_index and not is_same


def is_made(column):
    """Whether a column is another view of what has one axis."""
    base = column._base
    return base is not None and base.dim() == 1


def is_counted(frame):
    """Whether the line of the program that compares also adds up, or takes the mean."""
    while frame is not None and is_hidden(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    is_reduced = bool(COMPARES.search(line) and REDUCES.search(line))
    return is_reduced and not CHOOSES.search(line)


def is_hidden(path):
    """Whether a file is one of the sanitizer, or of the launcher."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120
    return path.startswith(folder) or f"{os.sep}kit{os.sep}launcher" in path
