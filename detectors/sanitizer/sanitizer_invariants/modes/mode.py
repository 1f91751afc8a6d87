"""What a compiled module says of its mode is what it was told."""

import sys
from pathlib import Path

import torch
from torch._dynamo.eval_frame import OptimizedModule

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

TORCH = str(Path(torch.__file__).parent)
# Other invariants ask for modes as well.
SANITIZER = str(Path(__file__).resolve().parent.parent)


class Mode(Invariant):
    """After `eval()` and `train()` of a compiled module,
    `training` says the mode of the module inside of it.

    Why: the wrapper stands for the module. A program that asks it gets an answer to go by: whether
    to take a step, which mode to set again.

    Excepted: modules that override `train` (the mode that was set and that of the module inside are
    both right), and programs that do not ask, or ask the module inside.

    Cost: a comparison for each change of mode; once the answer is wrong, one for each time that it
    is asked for.
    """

    NAME = "mode"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.places, self.listens = IdentityTable(), False

    def after_mode(self, module, mode):
        if not isinstance(module, OptimizedModule):
            return
        self.places.pop(module, None)
        inside = copies.unwrap(module).training
        if vars(module).get("training", inside) not in (mode, inside):
            self.places[module] = self.program.here()
            self._listen()

    def _listen(self):
        """The attribute stays what it is in each wrapper; the class notes that it is read."""
        if self.listens:
            return
        self.listens = True

        def read(module):
            self._is_read(module, sys._getframe(1).f_code.co_filename)
            return vars(module)["training"]

        def write(module, value):
            vars(module)["training"] = value

        OptimizedModule.training = property(read, write)

    def _is_read(self, module, file):
        is_program = not file.startswith((TORCH, SANITIZER)) and not self.program.quiet
        where = self.places.get(module) if is_program else None
        if where is None or vars(module)["training"] == copies.unwrap(module).training:
            return
        method, value = ("eval", True) if vars(module)["training"] else ("train", False)
        self.report(
            f"after {method}() of a compiled module its `training` says {value}, and the program "
            "goes by that",
            api=f"torch.nn.Module.{method}",
            where=where,
        )
