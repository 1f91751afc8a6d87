"""Of `unscheduled-group`: what it accuses, and what it does not."""

NAME = "unscheduled-group"
PROGRAM = """
first, second = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(second.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.{scheduler}
for epoch in range(30):
    if epoch == 3:
        {join}
    loss = second(first(torch.randn(8, 4))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    {after}
"""
JOIN = "optimizer.add_param_group({'params': list(first.parameters()), 'lr': 0.05})"
WARM = "CosineAnnealingWarmRestarts(optimizer, T_0=100)"


def program(scheduler, join=JOIN, after="pass"):
    return PROGRAM.format(scheduler=scheduler, join=join, after=after)


ADVISED = {
    "restarts": program(WARM),
    "a function": program("LambdaLR(optimizer, lambda e: 0.9**e)"),
}
RIGHT = {
    "made anew": program(WARM, JOIN + f"; scheduler = torch.optim.lr_scheduler.{WARM}"),
    "the base rate is told": program(
        WARM, JOIN.replace("0.05", "0.05, 'initial_lr': 0.05") + "; scheduler.base_lrs.append(0.05)"
    ),
    "by the program": program(WARM, after="optimizer.param_groups[-1]['lr'] *= 0.99"),
    "no schedule for both": program("LambdaLR(optimizer, lambda e: 1.0)"),
    "all from the beginning": program(WARM, "pass"),
    "chainable": program("ExponentialLR(optimizer, 0.95)"),
}
