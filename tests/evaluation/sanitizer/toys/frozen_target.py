"""Of `frozen-target`: what it accuses, and what it does not."""

NAME = "frozen-target"
PROGRAM = """
import copy

model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for iteration in range({steps}):
    states, following = torch.randn(2, 16, 3)
    actions, rewards = torch.randint(2, (16, 1)), torch.randn(16)
    with torch.no_grad():
        {value}
    optimizer.zero_grad()
    values = model(states).gather(1, actions)[:, 0]
    F.smooth_l1_loss(values, rewards + 0.9 * value).backward()
    optimizer.step()
    {update}
"""


def program(update="pass", value="value = target(following).max(1)[0]", steps=520):
    return PROGRAM.format(update=update, value=value, steps=steps)


WRONG = {
    "never": program(),
    "the first time alone": program("iteration or target.load_state_dict(model.state_dict())"),
    "to itself": program("iteration % 50 or target.load_state_dict(target.state_dict())"),
    "values": program(value="value = torch.max(target(following), dim=1).values"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.load_state_dict")
RIGHT = {
    "seldom": program("iteration % 500 == 499 and target.load_state_dict(model.state_dict())"),
    "from time to time": program("iteration % 100 or target.load_state_dict(model.state_dict())"),
    "slowly": program(
        "[t.data.lerp_(p.data, 0.01) for t, p in zip(target.parameters(), model.parameters())]"
    ),
    "no copy": program(value="value = model(following).max(1)[0]"),
    "another network's": program(value="value = target(following).softmax(1).mean(1)"),
    "a teacher": program(value="value = target(following).argmax(1).float()"),
    "places by their numbers": program(
        value="_, value = torch.max(target(following), 1); value = value.float()"
    ),
    "few steps": program(steps=300),
}
