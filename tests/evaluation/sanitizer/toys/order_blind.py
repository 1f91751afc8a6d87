"""Of `order-blind`: what it accuses, and what it does not."""

import runpy
from pathlib import Path

NAME = "order-blind"
# The same networks as those of another invariant.
OTHER = runpy.run_path(str(Path(__file__).with_name("reads_ahead.py")))
program, MASK = OTHER["program"], OTHER["MASK"]

BY_BATCH = "self.places[: len(x)].unsqueeze(1)"
WRONG = {
    "no code": program("Attention()", MASK, code="0"),
    "by the axis of the batch": program("Attention()", MASK, code=BY_BATCH),
    "zeros": program("Attention()", MASK, code="0 * self.places[: x.shape[1]]"),
    "one place": program("Attention()", MASK, code="self.places[0]"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.__call__")
LINES = dict.fromkeys(WRONG, "logits = model(")
RIGHT = {
    "a code": program("Attention()", MASK),
    "recurrent": program("Recurrent()", code="0"),
    "convolution": program("Convolution(2)", code="0"),
    "no texts": program(
        "Attention()", MASK, code="0", data="text[:, 1:], (text[:, 1:] * 7 + 3) % WORDS"
    ),
    "of one word": program("nn.Tanh()", code="0"),
}
