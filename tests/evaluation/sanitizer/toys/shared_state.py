"""Of `shared-state`: what it accuses, and what it does not."""

NAME = "shared-state"
PROGRAM = """
import copy
first, x, y = nn.Linear(4, 2), torch.randn(16, 4), torch.randint(2, (16,))

def learn(model, optimizer):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()

optimizer = torch.optim.SGD(first.parameters(), lr=0.1, momentum=0.9)
learn(first, optimizer)
second = {second}
other = torch.optim.SGD(second.parameters(), lr=0.1, momentum=0.9)
{load}
for _ in range(3):
    learn(first, optimizer)
    learn(second, other)
"""


def program(load, second="copy.deepcopy(first)"):
    return PROGRAM.format(load=load, second=second)


WRONG = {"given out": program("other.load_state_dict(optimizer.state_dict())")}
RIGHT = {
    "copied": program("other.load_state_dict(copy.deepcopy(optimizer.state_dict()))"),
    "its own": program(""),
    "the same parameters": program("other.load_state_dict(optimizer.state_dict())", "first"),
}
