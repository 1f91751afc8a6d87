"""Toys of `shadow-step`: what it accuses, in which iteration, and what it does not."""

NAME = "shadow-step"

TRAIN = """
{before}
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)){to}
optimizer = torch.optim.{optimizer}
points, labels = torch.randn(64, 2){to}, torch.randint(2, (64,))
update = {update}
for iteration in range(1, 9):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(points).float(), labels)
    loss.backward()
    {step}
"""
PATCHED = """
import sys
formula, name = sys.modules["torch.optim.{file}"], "_multi_tensor_{file}"
# In newer releases AdamW is Adam with another decay.
if not hasattr(formula, name):
    formula, name = sys.modules["torch.optim.adam"], "_multi_tensor_adam"
bare = getattr(formula, name)
def wrong(params, grads, *more, **options):
    {body}
setattr(formula, name, wrong)
"""
CLOSURE = """
    def closure():
        {change}
        loss = F.cross_entropy(model(points), labels)
        loss.backward()
        return loss
    update(closure)"""
BY_HAND = """
model = nn.Linear(2, 1)
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points = torch.randn(64, 2)
def closure():
    {set}
    return None
update = {update}
for iteration in range(4):
    update(closure)
"""


def train(optimizer, before="", step="update()", update="optimizer.step", to=""):
    optimizer = (
        optimizer.replace("(", "(model.parameters(), ", 1) if "(" in optimizer else optimizer
    )
    return TRAIN.format(optimizer=optimizer, before=before, step=step, update=update, to=to)


def patched(file, body, optimizer):
    return train(optimizer, PATCHED.format(file=file, body=body))


SETTING = (
    "model.weight.grad, model.bias.grad = model.weight.detach().clone(), "
    "model.bias.detach().clone()"
)


def by_hand(update, setting=SETTING, before=""):
    return BY_HAND.format(update=update, set=setting, before=before)


COMPILED = "torch.compile(optimizer.step, backend='eager')"
WHOLE = "torch.compile(lambda closure: optimizer.step(closure), backend='eager')"
ZEROS = "[setattr(p, 'grad', torch.zeros_like(p)) for p in model.parameters()]"
# The program's iteration in which it is accused, by what is wrong.
FAULTS = {
    "one parameter is left "
    "out": (1, patched("sgd", "bare(params[1:], grads[1:], more[0][1:], *more[1:], **options)",
                                             "SGD(lr=0.1, foreach=True)")),
    "twice the update": (1, patched("sgd", "bare(params, grads, *more, **options); "
                                    "bare(params, grads, *more, **options)", "SGD(lr=0.1, foreach=True)")),
    "does not count": (1, patched("adam", "bare(params, grads, *more, **options); [s.sub_(1) for s in more[3]]",
                                  "Adam(lr=0.01, foreach=True)")),
    "momentum that does not decay": (2, patched("sgd", "options['momentum'] = 1.0; "
                                                "bare(params, grads, *more, **options)",
                                                "SGD(lr=0.1, momentum=0.9, foreach=True)")),
    "nothing from the fourth "
    "on": (4, patched("adamw", "bare(params, grads, *more, **options) if iteration < 4 else 0",
                                              "AdamW(lr=0.01, foreach=True)")),
    "a compiled step that does not come back": (3, train("Adam(lr=0.1)", update=COMPILED, step="""
    if iteration == 2:
        optimizer.zero_grad()
    update()""")),
    "a compiled step with the gradients from before its closure": (1, by_hand(WHOLE, before=ZEROS)),
}  # fmt: skip
# All ways to compute a step by all formulas, in one program.
EQUAL = """
OPTIONS = {
    "SGD": [{"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1, "maximize": True}],
    "Adam": [{"amsgrad": True}, {"weight_decay": 0.1, "maximize": True}, {"betas": (0.9, 0.99999)}],
    "AdamW": [{"amsgrad": True, "weight_decay": 0.1}],
    "Adagrad": [{"lr_decay": 0.1}, {"weight_decay": 0.1}],
    "RMSprop": [{"momentum": 0.9}, {"centered": True}],
    "ASGD": [{"t0": 3}],
}
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for name in ("SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "NAdam", "RAdam"):
    for more in [{}, {"weight_decay": 0.1}] * (name != "Rprop") + OPTIONS.get(name, [{}]):
        for foreach in (True, False):
            for dtype in (torch.bfloat16, torch.float32, torch.float64):
                model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)).to(dtype)
                optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, foreach=foreach, **more)
                for iteration in range(6):
                    optimizer.zero_grad()
                    F.cross_entropy(model(points.to(dtype)).float(), labels).backward()
                    optimizer.step()
"""
RIGHT = {
    "compiled": train("Adam(lr=0.01)", update=COMPILED),
    "a learning rate in a tensor": train("Adam(lr=torch.tensor(0.01))"),
    "closure": train("Adam(lr=0.01)", step=CLOSURE.format(change="optimizer.zero_grad()")),
    "closure that clears in place": train("SGD(lr=0.1, foreach=True, momentum=0.9, nesterov=True)",
                                         step=CLOSURE.format(change="[p.grad.zero_() for p in model.parameters()]")),
    "closure by hand": by_hand("optimizer.step"),
    "closure that writes into the "
    "gradients": by_hand("optimizer.step", "[p.grad.normal_() for p in "
                                                      "model.parameters()]", ZEROS),
    "LBFGS": train("LBFGS(lr=0.1)", step=CLOSURE.format(change="optimizer.zero_grad()")),
    "a subclass": train("SGD(lr=0.1)", "class SGD(torch.optim.SGD):\n    def step(self, closure=None):\n        "
                        "return None\ntorch.optim.SGD = SGD"),
    "a hook changes the gradients": train("SGD(lr=0.1)", step="if iteration == 1: optimizer."
                                     "register_step_pre_hook(lambda *_: model[0].weight.grad.mul_(0.1) is None or None)"
                                     "\n    update()"),
    "no gradients now and "
    "then": train("Adam(lr=0.01)", step="iteration % 3 or optimizer.zero_grad(); update()"),
    "half a model without gradients": train("Adam(lr=0.01)", step="model[0].zero_grad(); update()"),
    "infinite gradients": train("Adam(lr=0.01, foreach=True)", step="model[0].weight.grad[0] = float('inf'); update()"),
    "tiny gradients": train("Adam(lr=0.01, foreach=True)", step="model[0].weight.grad.mul_(1e-30); update()"),
    "half precision": """
weight = nn.Parameter(torch.ones(4, dtype=torch.half))
optimizer = torch.optim.SGD([weight], lr=0.1, foreach=True)
for iteration in range(5):
    weight.grad = torch.full((4,), 1e-7, dtype=torch.half)
    optimizer.step()
""",
    "every formula, in every way": EQUAL,
    "momentum against the gradient": """
weight = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.5, foreach=True)
for gradient in (1.0, -0.5, 1.0, -0.25, 0.0):
    weight.grad = torch.tensor(gradient)
    optimizer.step()
""",
    "complex, empty, and two groups": """
weights = [nn.Parameter(torch.randn(3, dtype=torch.complex64)), nn.Parameter(torch.zeros(0, 2)),
           nn.Parameter(torch.randn(2)), nn.Parameter(torch.tensor(1.0))]
optimizer = torch.optim.Adam([{"params": weights[:2], "lr": 0.1}, {"params": weights[2:]}], lr=0.0)
for iteration in range(5):
    optimizer.zero_grad()
    sum((each.abs() ** 2).sum() for each in weights).backward()
    optimizer.step()
""",
    "sparse": """
table = nn.Embedding(10, 3, sparse=True)
optimizers = [torch.optim.SparseAdam(table.parameters()), torch.optim.SGD(table.parameters(), lr=0.1, momentum=0.9),
              torch.optim.Adagrad(table.parameters())]
for iteration in range(5):
    table.zero_grad()
    table(torch.tensor([1, 2, 2])).pow(2).sum().backward()
    [each.step() for each in optimizers]
""",
    "the same memory twice": """
left, right = nn.Linear(2, 2), nn.Linear(2, 2)
right.weight.data = left.weight.data
optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
for iteration in range(5):
    optimizer.zero_grad()
    (left(torch.ones(1, 2)) + right(torch.ones(1, 2))).pow(2).sum().backward()
    optimizer.step()
""",
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
# Other invariants accuse these, and rightly.
OTHERS = {
    "infinite gradients": {"not-a-number"},
    "half precision": {"rounded-away"},
    "every formula, in every way": {"rounded-away"},
}
