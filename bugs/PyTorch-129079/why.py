"""Show which values `torch.distributed.checkpoint.load` hands to its caller, in the torch that runs this.

One line for each form of a state: all values are 1 when they are saved, and 0 in the state that is to be filled.
"""

import logging
import tempfile
import warnings

import torch
import torch.distributed.checkpoint as dcp


class Holder:
    """An object with a state."""

    def __init__(self, state):
        self.state = state

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.state = state


# How to build a state with a value in it, and how to read the value: from the state, or from the object that was in it.
FORMS = {
    "a tensor": (lambda value: {"a": torch.tensor(value)}, lambda state, objects: state["a"].item()),
    "a number": (lambda value: {"a": value}, lambda state, objects: state["a"]),
    "a tensor in a dictionary": (
        lambda value: {"a": {"b": torch.tensor(value)}},
        lambda state, objects: state["a"]["b"].item(),
    ),
    "a number in a dictionary": (lambda value: {"a": {"b": value}}, lambda state, objects: state["a"]["b"]),
    "a number in an object with a state": (
        lambda value: {"a": Holder({"b": value})},
        lambda state, objects: objects[0].state["b"],
    ),
}


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print("torch", torch.__version__)
    print(f"{'':36}saved  loaded")
    for form, (build, read) in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            dcp.save(build(1.0), checkpoint_id=folder)
            state = build(0.0)
            objects = list(state.values())
            dcp.load(state, checkpoint_id=folder)
        print(f"{form:36}{1:5g}{read(state, objects):8g}")


if __name__ == "__main__":
    main()
