"""Of `loads-nothing`: what it accuses, and what it does not."""

NAME = "loads-nothing"
PROGRAM = """
model, kept = nn.Linear(4, 2), nn.Linear(4, 2)
state = kept.state_dict()
other = {{"module." + name: value for name, value in state.items()}}
{load}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def program(load):
    return PROGRAM.format(load=load)


WRONG = {"prefix": program("model.load_state_dict(other, strict=False)")}
RIGHT = {
    "plain": program("model.load_state_dict(state)"),
    "in part": program("model.load_state_dict({'weight': state['weight']}, strict=False)"),
    "at the second try": program(
        "model.load_state_dict(other, strict=False); model.load_state_dict(state)"
    ),
    "fails": program(
        "try:\n    model.load_state_dict(other)\nexcept RuntimeError:\n    print('from scratch')"
    ),
    "the same at the second try": program(
        "state = {name: each.clone() for name, each in model.state_dict().items()}\n"
        "model.load_state_dict(other, strict=False); model.load_state_dict(state)"
    ),
    "a part of it": program(
        "kept.load_state_dict(state); model.load_state_dict({'a.b': state['bias']}, strict=False)"
    ),
    "a part of it, before": program(
        "model.load_state_dict(other, strict=False)\n"
        "kept.load_state_dict({name[7:]: each for name, each in other.items()})"
    ),
    "then by hand": program(
        "model.load_state_dict(other, strict=False)\nwith torch.no_grad():\n"
        "    [one.copy_(another) for one, another in zip(model.parameters(), kept.parameters())]"
    ),
    "empty": program("model.load_state_dict({}, strict=False)"),
    "not used": program("kept.load_state_dict(other, strict=False)"),
    "renamed": program(
        "def rename(state, *_):\n    state.update({name[7:]: state.pop(name) for name in list(state)})\n"
        "model._register_load_state_dict_pre_hook(rename)\nmodel.load_state_dict(other)"
    ),
}
