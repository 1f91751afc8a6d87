"""Of `overwritten-loss`: what it accuses, in which iteration, and what it does not."""

NAME = "overwritten-loss"
PROGRAM = """
body, heads = nn.Linear(4, 8), nn.ModuleList(nn.Linear(8, 3) for _ in range(3))
optimizer = torch.optim.SGD([*body.parameters(), *heads.parameters()], lr=0.1)
x, labels = torch.randn(16, 4), torch.randint(3, (3, 16))
for iteration in range(15):
    h, loss, losses = body(x).tanh(), 0, []
    for head, y in zip(heads, labels):
        {each}
    {after}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ASSIGNED = "loss = F.cross_entropy(head(h), y)"


def program(each=ASSIGNED, after="pass"):
    return PROGRAM.format(each=each, after=after)


WRONG = {
    "assigned": program(),
    "weighted": program("loss = 0.3 * F.cross_entropy(head(h), y)"),
    "with another term": program(after="loss = loss + 1e-4 * body.weight.square().sum()"),
    "a module": program("loss = nn.CrossEntropyLoss()(head(h), y)"),
    "collected in vain": program("loss = F.cross_entropy(head(h), y); losses.append(loss)"),
}
ITERATIONS = dict.fromkeys(WRONG, 10)
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
LINES = dict.fromkeys(WRONG, "loss = ")
RIGHT = {
    "added": program("loss = loss + F.cross_entropy(head(h), y)"),
    "added in place": program("loss += F.cross_entropy(head(h), y)"),
    "stacked": program(
        "losses.append(F.cross_entropy(head(h), y))", "loss = torch.stack(losses).mean()"
    ),
    "the least": program("losses.append(F.cross_entropy(head(h), y))", "loss = min(losses, key=float)"),
    "passes of their own": program(f"{ASSIGNED}; loss.backward(retain_graph=True)"),
    "printed": program(f"{ASSIGNED}; losses.append(loss.item())"),
    "of one head in turn": program(
        "losses.append(F.cross_entropy(head(h), y))", "loss = losses[iteration % 3]"
    ),
}  # fmt: skip
