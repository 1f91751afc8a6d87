"""Of `vanished-rate`: what it accuses, and what it does not."""

NAME = "vanished-rate"
PROGRAM = """
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{scheduler}
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for iteration in range({steps}):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    {step}
"""
STEPS = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, gamma=0.1)"
LINEAR = (
    "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / {}))"
)
COSINE = "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)"


def program(scheduler=STEPS, step="scheduler.step()", steps=400):
    return PROGRAM.format(scheduler=scheduler, step=step, steps=steps)


PLATEAU = "scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1{})"
ACCURACY = """iteration % 10 or scheduler.step(metric(iteration))
metric = lambda iteration: 1 - 1 / (2 + iteration)"""
LOSS = ACCURACY.replace("1 - 1", "1")


def by_metric(options="", metric=ACCURACY):
    step, function = metric.splitlines()
    return program(f"{PLATEAU.format(options)}\n{function}", step)


WRONG = {
    "for each batch": program(),
    "too short": program(LINEAR.format(50)),
    "an accuracy that is to fall": by_metric(),
    "a loss that is to rise": by_metric(", mode='max', min_lr=1e-5", LOSS),
}
ADVISED = {
    "a metric that gets worse later": by_metric(
        metric=LOSS.replace("1 / (2 + iteration)", "abs(iteration - 30)")
    )
}
LINES = {"an accuracy that is to fall": "optimizer.step()"}
SILENT = True
RIGHT = {
    "for each epoch": program(step="iteration % 50 or scheduler.step()"),
    "long enough": program(LINEAR.format(400)),
    "up and down": program(COSINE),
    "up again": program(
        COSINE.replace("20", "3"), "(iteration + 1) % 110 or scheduler.step()", 770
    ),
    "an accuracy": by_metric(", mode='max'"),
    "a loss": by_metric(metric=LOSS),
    "a floor that was chosen": by_metric(", min_lr=1e-4", LOSS.replace("1 / (2 + iteration)", "abs(iteration - 30)")),
    "without": program("pass", "optimizer.param_groups[0]['lr'] = 0.0"),
}  # fmt: skip
