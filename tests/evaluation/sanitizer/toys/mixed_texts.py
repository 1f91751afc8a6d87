"""Of `mixed-texts`: what it accuses, and what it does not."""

import runpy
from pathlib import Path

NAME = "mixed-texts"
# The same networks as those of another invariant.
OTHER = runpy.run_path(str(Path(__file__).with_name("reads_ahead.py")))
program, MASK = OTHER["program"], OTHER["MASK"]
SQUARE = MASK.replace("LENGTH", "len(x)")


def by_rows(text):
    return text.replace("batch_first=True", "batch_first=False")


def by_columns(text):
    text = text.replace("self.places[: x.shape[1]]", "self.places[: len(x), None]")
    return by_rows(text)


SWAPPED = "text[:, :-1].T, text[:, 1:].T"
WRONG = {
    "recurrent": by_rows(program("Recurrent()")),
    "attention": by_rows(program("Attention()", SQUARE)),
    "columns": program("Recurrent()", data=SWAPPED),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.__call__")
LINES = dict.fromkeys(WRONG, "logits = model(")
RIGHT = {
    "rows": program("Recurrent()"),
    "columns": by_columns(program("Recurrent()", data=SWAPPED)),
    "attention": program("Attention()", MASK),
    "normalised": program("nn.Sequential(Recurrent(), nn.LayerNorm(16))"),
}
