"""What is read again is what it was."""

import dis
import functools

from sanitizer_invariants.tools.invariant import Invariant

CALLS, DEPTH = 3, 12
OWN, FUNCTIONAL = "sanitizer_invariants", "nn/functional.py"
READS, WRITES = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"), ("STORE_FAST", "DELETE_FAST")
SHAPES = ("shape", "size", "dim", "ndim", "device", "dtype", "numel", "requires_grad", "type")
# Behind them the code goes on elsewhere.
ENDS = ("RETURN_VALUE", "RAISE_VARARGS", "JUMP_BACKWARD", "JUMP_ABSOLUTE")


class OverwrittenInput(Invariant):
    """An activation that writes in place leaves alone what a function outside of its module reads
    afterwards.

    Why: a block whose body begins with `nn.ReLU(inplace=True)` changes its own input. The shortcut
    `x + body(x)` then adds the activated numbers, and not the ones that the block was given, and
    who reads the function does not see it.

    Of `relu` with `inplace`, which a module calls that a function has called; the function has a
    name for the tensor, and reads it again behind the call; the tensor has negative numbers,
    which are lost. In three calls of one line, in training.

    Excepted: the function that asks for the activation itself, also by a call as a statement; a
    name that is bound anew before it is read, or of which the shape alone is; what the function has
    read before the call.

    Cost: for each such activation a look at the names of the functions that have called it, and
    once for each place at the code behind the call.
    """

    NAME = "overwritten-input"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def before_activation(self, name, tensor, frame):
        if not tensor.requires_grad:
            return
        reader = find_reader(tensor, frame)
        if reader is None:
            return
        reading, variable = reader
        place = reading.f_code, reading.f_lineno
        count = self.calls[place] = self.calls.get(place, 0) + 1
        if count > CALLS or not bool((tensor.detach() < 0).any()):
            return
        if count == CALLS:
            self.report(
                f"`{variable}` is read again behind a call of a module that has written over it "
                f"in place ({name}): what is read is activated already",
                api=f"torch.nn.functional.{name}",
            )


def find_reader(tensor, frame):
    """The function that has called the module of an activation and reads the tensor again, with
    the name; None where there is none.
    """
    while OWN in frame.f_code.co_filename or frame.f_code.co_filename.endswith(FUNCTIONAL):
        frame = frame.f_back
    for _ in range(DEPTH):
        frame = frame.f_back
        if frame is None:
            return None
        if is_of_torch(frame.f_code.co_filename):
            continue
        for variable in frame.f_code.co_varnames:
            is_it = frame.f_locals.get(variable) is tensor
            if is_it and reads_again(frame.f_code, frame.f_lasti, variable):
                return frame, variable
    return None


def is_of_torch(path):
    return "/torch/nn/modules/" in path or "/torch/nn/functional" in path


@functools.lru_cache(maxsize=4096)
def reads_again(code, offset, variable):
    """Whether the numbers of a name are read behind a call before the name is bound anew; not where
    the result of the call is thrown away, as the writing is what was meant.
    """
    behind = [item for item in dis.get_instructions(code) if item.offset > offset]
    if behind and behind[0].opname == "POP_TOP":
        return False
    for number, instruction in enumerate(behind):
        if instruction.opname in ENDS:
            return False
        if instruction.argval != variable:
            continue
        if instruction.opname in WRITES:
            return False
        if instruction.opname in READS and not is_of_shape(behind[number + 1 : number + 2]):
            return True
    return False


def is_of_shape(following):
    """Whether what is read of a tensor next is none of its numbers."""
    return any(
        item.opname in ("LOAD_ATTR", "LOAD_METHOD") and item.argval in SHAPES for item in following
    )
