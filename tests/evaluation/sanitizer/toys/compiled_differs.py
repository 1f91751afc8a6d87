"""Toys of `compiled-differs`: what it accuses, in which iteration, and what it does not."""

NAME = "compiled-differs"

PROGRAM = """
from torch._dynamo import register_backend

@register_backend
def wrong(graph, inputs):
    return lambda *given: [each * 1.01 if each.is_floating_point() else each for each in graph(*given)]

@register_backend
def late(graph, inputs):
    return lambda *given: graph(*given) if iteration < 3 else wrong(graph, inputs)(*given)

@register_backend
def rounds(graph, inputs):
    return lambda *given: [each * (1 + 1e-6) for each in graph(*given)]

@register_backend
def nudges(graph, inputs):
    def nudged(x):
        return x * (1 + 3e-7 * torch.randn(x.shape, generator=torch.Generator().manual_seed(iteration)))
    return lambda *given: [nudged(x) if x.is_floating_point() else x for x in graph(*[nudged(x) for x in given])]

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout({drop}), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
other = torch.optim.SGD(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 4), torch.randint(2, (64,))
table, rows, seen = torch.ones(8, 2), torch.tensor([1, 1, 2]), []

def scale(table, rows, factor=0.5):
    table[rows] *= factor

def squares(x):
    return (x * x).sum(1)

experts, near = torch.tensor([-2.0, 0.5, 3.0, 1.0]), points.clone()
near[::4] = torch.tensor([9.0, 9.000001, 1.0, 2.0])

def routed(x):
    return (x * experts[x.argmax(1)].unsqueeze(1)).sum()

def of_model(x):
    return model(x)

def of_optimizer(x):
    F.cross_entropy(model(x), labels).backward()
    other.step()
    return x

def counted(x):
    seen.append(1)
    return x + len(seen)

def random(x):
    return x + torch.rand_like(x)

def odd(x, y=None, *, more=()):
    return None if x is None else x[:0], y

{compiled}
for iteration in range(6):
    optimizer.zero_grad()
    {use}
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
"""


def program(compiled, use, drop="0.0"):
    return PROGRAM.format(compiled=compiled, use=use, drop=drop)


def function(name, backend="wrong", use="compiled(points)", **more):
    return program(f"compiled = torch.compile({name}, backend='{backend}')", use, **more)


WRONG = {
    "experts": function("routed", use="compiled(points)"),
    "outputs": function("squares"),
    "later": function("squares", "late"),
    "module": program("model = torch.compile(model, backend='wrong')", "pass"),
    "arguments": program(
        "def wrong_scale(table, rows):\n    table[rows] *= 0.5 if not torch._dynamo.is_compiling() "
        "else 0.4\ncompiled = torch.compile(wrong_scale, "
        "backend='eager')", "compiled(table, rows)"),
    "uses a module": function("of_model", use="with torch.no_grad(): compiled(points)"),
}  # fmt: skip
RIGHT = {
    "nearly equal experts": function("routed", "nudges", "compiled(near)"),
    "experts chosen late": function("routed", "nudges", "compiled(near * (1 + iteration))"),
    "outputs": function("squares", "eager"),
    "module": program("model = torch.compile(model, backend='eager')", "pass"),
    "dropout": program("model = torch.compile(model, backend='eager')", "pass", "0.5"),
    "arguments": function("scale", "eager", "compiled(table, rows)"),
    "uses a module": function("of_model", "eager"),
    "uses an optimizer": function(
        "of_optimizer", "eager", "compiled(points); optimizer.zero_grad()"
    ),
    "not repeatable": function("counted", "eager", "compiled(points)"),
    "random numbers": function("random", "eager"),
    "rounding": function("squares", "rounds"),
    "shared memory": function(
        "scale", "eager", "compiled(table, rows); compiled(table.view(-1), rows)"
    ),
    "odd arguments": function(
        "odd", "eager", "compiled(None); compiled(points, y='text', more=(None,))"
    ),
}

ITERATIONS = dict.fromkeys(WRONG, 1) | {"later": 4}
