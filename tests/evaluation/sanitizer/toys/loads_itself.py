"""Of `loads-itself`: what it accuses, and what it does not."""

NAME = "loads-itself"
PROGRAM = """
import copy
model, average = nn.Linear(4, 2), nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
best = {keep}
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
{load}
"""

ROUNDS = """
state = average.state_dict()
for turn in range(3):
    copies = [copy.deepcopy(average) for _ in range(2)]
    for each in copies:
        optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
        F.cross_entropy(each(torch.randn(16, 4)), y).backward()
        optimizer.step()
    for name in state:
        state[name].copy_(torch.stack([each.state_dict()[name] for each in copies]).mean(0))
    average.load_state_dict(state)
"""


def program(keep="model.state_dict()", load="model.load_state_dict(best)"):
    return PROGRAM.format(keep=keep, load=load)


WRONG = {
    "best": program(),
    "best, copied as a dictionary": program("dict(model.state_dict())"),
    "backup": program(
        load=(
            "backup = model.state_dict(); model.load_state_dict(average.state_dict()); "
            "model.load_state_dict(backup)"
        )
    ),
}
RIGHT = {
    "copied": program("copy.deepcopy(model.state_dict())"),
    "cloned": program("{name: each.clone() for name, each in model.state_dict().items()}"),
    "at once": program(load="model.load_state_dict(model.state_dict())"),
    "filled": program(
        load=(
            "state = model.state_dict(); [each.fill_(0.1) for each in state.values()]; "
            "model.load_state_dict(state)"
        )
    ),
    "mean of others": program(
        load="for name, each in model.state_dict().items():\n    state[name].copy_(each)\n"
        "average.load_state_dict(state)"
    ).replace("best =", "state = average.state_dict(); best ="),
    "mean of others, in rounds": program(load=ROUNDS),
    "another": program(load="average.load_state_dict(best)"),
}
