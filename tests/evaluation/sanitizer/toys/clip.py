"""Toys of `clip`: what it accuses, in which iteration, and what it does not."""

NAME = "clip"

TRAIN = """
body, head, other = nn.Linear(2, 8), nn.Linear(8, 2), nn.Linear(8, 2)
{freeze}
parameters = {parameters}
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
list(parameters)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 5):
    optimizer.zero_grad()
    loss = F.cross_entropy(head(torch.tanh(body(points))), labels)
    loss.backward()
    {clip}
    optimizer.step()
"""


def train(clip, parameters="list(head.parameters())", freeze=""):
    return TRAIN.format(clip=clip, parameters=parameters, freeze=freeze)


NORM = "nn.utils.clip_grad_norm_(parameters, 1.0)"
# The iteration, and the program.
FAULTS = {
    "a generator that is used up": (1, train(NORM, "head.parameters()")),
    "a filter that is used up": (
        2,
        train(NORM, "filter(lambda p: p.requires_grad, head.parameters())"),
    ),
    "a chain that is used up": (
        2,
        train(NORM, "itertools.chain(head.parameters())", "import itertools"),
    ),
    "another model's": (1, train(NORM, "list(other.parameters())")),
    "later": (3, train(f"iteration < 3 or {NORM}", "head.parameters()")),
}
RIGHT = {
    "nothing by configuration": train("nn.utils.clip_grad_norm_(nn.Identity().parameters(), 1.0)"),
    "nothing passes": train("nn.utils.clip_grad_norm_([p for p in parameters if p.grad is None], 1.0)"),
    "a filter that lets nothing pass": train(
        "nn.utils.clip_grad_norm_(filter(lambda p: p.requires_grad, nn.Identity().parameters()), "
        "1.0)"),
    "all": train(NORM, "[*body.parameters(), *head.parameters()]"),
    "some": train(NORM),
    "one tensor": train(NORM, "head.weight"),
    "one of two": train(f"{NORM}; nn.utils.clip_grad_norm_(body.parameters(), 1.0)", "head.parameters()"),
    "one of two, the other way "
    "round": train(f"nn.utils.clip_grad_norm_(body.parameters(), 1.0); {NORM}",
                                             "head.parameters()"),
    "frozen": train(NORM, freeze="head.requires_grad_(False)"),
    "frozen and in no optimizer": train(NORM, "list(other.parameters())", "other.requires_grad_(False)"),
    "not used now": train("head.zero_grad(); " + NORM),
    "no gradients": train("if iteration == 2: optimizer.zero_grad(); nn.utils.clip_grad_norm_([], 1.0)"),
}  # fmt: skip

EARLY = """
body, head = nn.Linear(2, 8), nn.Linear(8, 2)
parameters = [*body.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 9):
    optimizer.zero_grad({zero})
    {before}
    F.cross_entropy(head(torch.tanh(body(points))), labels).backward()
    {after}
    optimizer.step()
"""


def early(before, after="pass", zero=""):
    return EARLY.format(before=before, after=after, zero=zero)


FAULTS["before the backward pass"] = (5, early(NORM))
FAULTS["of zeros"] = (5, early(NORM, zero="set_to_none=False"))
FAULTS["values"] = (
    6,
    early("iteration == 1 or nn.utils.clip_grad_value_(parameters, 1.0)", zero="set_to_none=False"),
)
RIGHT["behind the backward pass"] = early("pass", NORM)
RIGHT["before and behind"] = early(NORM, NORM)
RIGHT["a part before"] = early("nn.utils.clip_grad_norm_(head.parameters(), 1.0)", NORM)
RIGHT["a part without gradients"] = early("pass", NORM, zero="set_to_none=False").replace(
    "torch.tanh(body(points))", "torch.tanh(body(points)).detach()"
)
RIGHT["seldom before"] = early(f"iteration % 3 or {NORM}")

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
LINES = dict.fromkeys(WRONG, 17) | dict.fromkeys(
    ["before the backward pass", "of zeros", "values"], "clip_grad_"
)
