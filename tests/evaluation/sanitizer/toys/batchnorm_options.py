"""Of `batchnorm-options`: what it accuses, in which iteration, and what it does not."""

NAME = "batchnorm-options"
PROGRAM = """
model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8{options}), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for iteration in range({iterations}):
        x, y = torch.randn(16, 8), torch.randint(2, (16,))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    {evaluate}
"""
EVALUATE = "model.eval()\n    with torch.no_grad(): model(torch.randn(16, 8))"


def program(options, iterations=12, evaluate=EVALUATE):
    return PROGRAM.format(options=options, iterations=iterations, evaluate=evaluate)


WRONG = {
    "momentum": program(", momentum=0.99"),
    "eps": program(", 0.8"),
    "eps without evaluation": program(", 0.9", evaluate=""),
}
ITERATIONS = {"momentum": 25, "eps": 1, "eps without evaluation": 1}
APIS = dict.fromkeys(WRONG, "torch.nn.BatchNorm1d")
LINES = {"momentum": "model(torch.randn(16, 8))", "eps": "model(x)"}
RIGHT = {
    "as they are": program(""),
    "the newest batch": program(", momentum=1.0"),
    "the mean": program(", momentum=None"),
    "fast": program(", momentum=0.5"),
    "a few batches": program(", momentum=0.9", 8),
    "no statistics": program(", momentum=0.9, track_running_stats=False"),
    "not evaluated": program(", momentum=0.9", evaluate=""),
    "eps": program(", eps=0.01"),
    "frozen": program(", momentum=0.9")
    .replace("optimizer", "model[1].num_batches_tracked += 99\noptimizer", 1)
    .replace("model.train()", "model.train(); model[1].eval()"),
}
