"""Of `frozen-in-name`: what it accuses, in which iteration, and what it does not."""

NAME = "frozen-in-name"
PROGRAM = """
class Body(nn.Linear):
    def __init__(self, requires_grad=True):
        super().__init__(4, 8)
        self.requires_grad = requires_grad
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad


body, head = nn.Linear(4, 8), nn.Linear(8, 3)
{change}
model = nn.Sequential(body, nn.ReLU(), head)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(16, 4), torch.randint(3, (16,))
for iteration in range(4):
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
"""


def program(change):
    return PROGRAM.format(change=change)


def each(line):
    return program(f"for parameter in body.parameters(): {line}")


WRONG = {
    "a letter": each("parameter.require_grad = False"),
    "another letter": each("parameter.required_grad = False"),
    "two letters": each("parameter.requires_gard = False"),
    "a method": each("parameter.requires_grad_ = False"),
    "a module": program("body.requires_grad = False"),
    "a method of a module": program("body.requires_grad_ = False"),
    "to learn again": each("parameter.requires_grad_(False); parameter.require_grad = True"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = dict.fromkeys(WRONG, "torch.nn.Module.requires_grad_")
RIGHT = {
    "frozen": each("parameter.requires_grad = False"),
    "frozen by a method": program("body.requires_grad_(False)"),
    "a module that says so": program("body = Body(False)"),
    "a module that learns, and says so": program("body = Body()"),
    "another attribute": each("parameter.is_shared_by_all = False"),
    "a norm of gradients": each("parameter.grad_norm, parameter.requires_sync = 0.0, False"),
    "a mark of those that learn": each("parameter.require_grad = True"),
}
