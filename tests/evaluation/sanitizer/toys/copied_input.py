"""Of `copied-input`: what it accuses, and what it does not."""

import runpy
from pathlib import Path

NAME = "copied-input"
# The same networks, which are right ones there.
OTHER = runpy.run_path(str(Path(__file__).with_name("reads_ahead.py")))
program, MASK, SHIFTED = OTHER["program"], OTHER["MASK"], OTHER["SHIFTED"]
WHOLE = "text[:, 1:], text[:, 1:]"

WRONG = {
    "attention": program("Attention()", MASK, WHOLE),
    "recurrent": program("Recurrent()", data=WHOLE),
    "convolution": program("Convolution(2)", data=WHOLE),
    "labels that go along": program("Recurrent()", data=WHOLE, arguments="inputs, targets"),
    "cut at the end": program("Recurrent()", data="text, text[:, :-1]").replace(
        "logits.reshape", "logits[:, :-1].reshape"
    ),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
LINES = dict.fromkeys(WRONG, "logits = model(")
RIGHT = {
    "shifted": program("Attention()", MASK, SHIFTED),
    "labels that are shifted": program("Recurrent()", arguments="inputs, targets"),
    "an autoencoder": program("Pooled()", data=WHOLE),
    "a bidirectional one": program("Recurrent(both=True)", data=WHOLE),
    "a latent variable": program("Latent()", data=WHOLE),
    "masked": program(
        "Recurrent()",
        data="text[:, 1:].where(torch.rand(8, LENGTH) < 0.5, torch.tensor(0)), text[:, 1:]",
    ),
    "tags": program("Recurrent()", data="text[:, 1:], (text[:, 1:] * 7 + 3) % WORDS"),
}
