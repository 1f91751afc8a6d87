"""Of `frozen-moves`: what it accuses, and what it does not."""

NAME = "frozen-moves"
PROGRAM = """
body, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum={momentum})
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for iteration in range(8):
    {freeze}
    optimizer.zero_grad(set_to_none={none})
    F.cross_entropy(head(body(x)), y).backward()
    optimizer.step()
"""


def program(freeze="iteration == 4 and body.requires_grad_(False)", momentum=0.9, none=False):
    return PROGRAM.format(freeze=freeze, momentum=momentum, none=none)


WRONG = {"momentum": program()}
RIGHT = {
    "no gradient left": program(none=True),
    "no momentum": program(momentum=0.0),
    "not frozen": program("pass"),
    "frozen from the beginning": program("body.requires_grad_(False)"),
    "by hand": program(
        "body.requires_grad_(False); body.weight.grad = torch.randn(8, 4); body.bias.grad = "
        "torch.randn(8)",
        none=True,
    ),
}
