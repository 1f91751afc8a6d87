"""Of `unfed-normalisation`: what it accuses, and what it does not."""

NAME = "unfed-normalisation"
PROGRAM = """
import copy

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(32, 4) * 5 + 3, torch.randint(3, (32,))
for iteration in range(6):
    optimizer.zero_grad()
    {train}
    optimizer.step()
    with torch.no_grad():
        {after}
"""
LEARN = "F.cross_entropy(model(points), labels).backward()"
AVERAGE = "[a.lerp_(b, 0.1) for a, b in zip(average.parameters(), model.parameters())]"
COPY = "average = copy.deepcopy(model).eval()"


def program(before=COPY, after="pass", train=LEARN):
    return PROGRAM.format(before=before, after=after, train=train)


SWA = program(
    "average = torch.optim.swa_utils.AveragedModel(model)", "average.update_parameters(model)"
)
WRONG = {
    "average of weights": program(after=f"{AVERAGE}; average(points)"),
    "evaluated in the beginning and at the end": program(f"{COPY}; torch.no_grad()(average)(torch.randn(2, 4))", AVERAGE)
    + "with torch.no_grad(): average(points)\n",
    "weights loaded alone": program(after="average.load_state_dict(dict(model.named_parameters()), strict=False); average(points)"),
}  # fmt: skip
ITERATIONS = {"average of weights": 3, "evaluated in the beginning and at the end": 7}
APIS = dict.fromkeys(WRONG, "torch.nn.BatchNorm1d")
RIGHT = {
    "buffers as well": program(
        after=f"{AVERAGE}; [a.copy_(b) for a, b in zip(average.buffers(), model.buffers())]; "
        "average(points)"
    ),
    "averaged by torch, which copies buffers": SWA + "average.eval()\nwith torch.no_grad(): average(points)\n",
    "statistics of the data": SWA
    + "torch.optim.swa_utils.update_bn([points], average)\naverage.eval()\n"
    + "with torch.no_grad(): average(points)\n",
    "averaged buffers": program(
        "average = torch.optim.swa_utils.AveragedModel(model, use_buffers=True)",
        "average.update_parameters(model); average.eval(); average(points)",
    ),
    "not evaluated": program(after=AVERAGE),
    "normalised by the batch": program(after=f"{AVERAGE}; average.train(); average(points)"),
    "itself": program(after="model.eval(); model(points); model.train()"),
    "before the training": program("model.eval(); torch.no_grad()(model)(torch.randn(2, 4)); model.train()"),
    "a fixed copy": program(after="average(points)"),
    "learns like that": program(
        "model.eval(); other = nn.Sequential(nn.BatchNorm1d(8)); other(torch.randn(4, 8))",
        "model(points)",
    ),
    "written statistics": program(
        after=f"average[1].running_var.fill_(4.0); {AVERAGE}; average(points)"
    ),
    "no statistics": program(
        "model[1] = nn.BatchNorm1d(8, track_running_stats=False); " + COPY,
        f"{AVERAGE}; average(points)",
    ),
    "random weights of another width": program(
        "average = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16)).eval()",
        "average[0].weight.normal_(); average(points)",
    ),
    "all of the state": program(after="average.load_state_dict(model.state_dict()); average(points)"),
}  # fmt: skip
