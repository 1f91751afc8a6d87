"""Of `half-resumed`: what it accuses, in which line, and what it does not."""

NAME = "half-resumed"
PROGRAM = """
def make():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    return model, make_optimizer(model)


def make_optimizer(model, rate=0.01):
    return torch.optim.{kind}(model.parameters(), lr=rate)


def make_schedule(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, 2)


def train():
    for iteration in range(3):
        x, y = torch.randn(16, 4), torch.randint(2, (16,))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()


model, optimizer = make()
schedule = make_schedule(optimizer)
train()
torch.save(
    dict(
        model=model.state_dict(), optimizer=optimizer.state_dict(), schedule=schedule.state_dict()
    ),
    "last.pt",
)
model, optimizer = make()
schedule = None
state = torch.load("last.pt")
model.load_state_dict(state["model"])
{load}
train()
"""
ALL = "optimizer.load_state_dict(state['optimizer'])"
SCHEDULE = "schedule = make_schedule(optimizer)\nschedule.load_state_dict(state['schedule'])"


def program(load, kind="Adam"):
    return PROGRAM.format(load=load, kind=kind)


WRONG = {
    "schedule": program(SCHEDULE),
    "made anew": program(ALL + "\noptimizer = make_optimizer(model)"),
    "momentum": program(
        ALL + "\noptimizer = make_optimizer(model)",
        "SGD",
    ).replace("lr=rate", "lr=rate, momentum=0.9"),
}
LINES = {"made anew": "optimizer.load_state_dict"}
ITERATIONS = dict.fromkeys(WRONG, 4)
ADVISED = {"weights alone": program("")}
RIGHT = {
    "all": program(ALL + "\n" + SCHEDULE),
    "another rate": program("optimizer = make_optimizer(model, 0.001)"),
    "another class": program("optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)"),
    "another class, later": program(
        ALL + "\noptimizer = torch.optim.AdamW(model.parameters(), lr=0.01)"
    ),
    "another rate, later": program(ALL + "\noptimizer = make_optimizer(model, 0.001)"),
    "in part": program("model[0].requires_grad_(False); optimizer = make_optimizer(model[2])"),
    "another head": program("model[2] = nn.Linear(8, 3); optimizer = make_optimizer(model)"),
    "no averages": program(SCHEDULE, "SGD"),
    "made again before": program("optimizer = make_optimizer(model)\n" + ALL),
    "another network": program(ALL + "\nmodel, optimizer = make()"),
    "from memory": program(
        "import copy\noptimizer.load_state_dict(copy.deepcopy(state['optimizer']))"
    ),
}
SILENT = True
