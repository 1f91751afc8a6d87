"""Of `plain-parameter`: what it accuses, in which iteration, and what it does not."""

NAME = "plain-parameter"
PROGRAM = """
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        {made}

    def forward(self, x):
        {before}
        return self.layer(x) + {used}


model = Network()
optimizer = torch.optim.SGD({learnt}, lr=0.1)
points, labels = torch.randn(16, 4), torch.randint(3, (16,))
for iteration in range(6):
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
    {after}
"""


def program(made, used="self.shift", before="pass", learnt="model.parameters()", after="pass"):
    return PROGRAM.format(made=made, used=used, before=before, learnt=learnt, after=after)


WRONG = {
    "another type": program("self.shift = nn.Parameter(torch.zeros(3, dtype=torch.float64)).to(torch.float32)"),
    "float": program("self.shift = nn.Parameter(torch.zeros(3).double()).float()"),
    "another shape": program("self.shift = nn.Parameter(torch.zeros(3)).view(1, 3)"),
    "not from 0": program("self.shift = 0.1 + nn.Parameter(torch.zeros(3))"),
    "a plain tensor": program("self.shift = torch.zeros(3, requires_grad=True)"),
    "a list": program(
        "self.shifts = [torch.zeros(3, requires_grad=True) for _ in range(2)]", "self.shifts[1]"
    ),
    "a list of parameters": program(
        "self.shifts = [nn.Parameter(torch.zeros(3)) for _ in range(2)]", "self.shifts[0]"
    ),
}  # fmt: skip
ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = dict.fromkeys(WRONG, "torch.nn.Parameter")
PARAMETERS = {"another type": "shift", "a list": "shifts"}
RIGHT = {
    "a parameter": program("self.shift = nn.Parameter(torch.zeros(3).double().float())"),
    "the same type": program("self.shift = nn.Parameter(torch.zeros(3)).to(torch.float32)"),
    "a list of torch": program("self.shifts = nn.ParameterList([torch.zeros(3)])", "self.shifts[0]"),
    "a buffer": program("self.register_buffer('shift', torch.zeros(3))"),
    "learnt by itself": program(
        "self.shift = torch.zeros(3, requires_grad=True)",
        learnt="[*model.parameters(), model.shift]",
    ),
    "learnt at a rate of 0": program(
        "self.shift = torch.zeros(3, requires_grad=True)",
        learnt="[{'params': model.layer.parameters()}, {'params': [model.shift], 'lr': 0.0}]",
    ),
    "changed by hand": program(
        "self.shift = torch.zeros(3, requires_grad=True)",
        after="model.shift.data -= 0.1 * model.shift.grad; model.shift.grad = None",
    ),
    "not used": program("self.shift = torch.zeros(3, requires_grad=True)", "0"),
    "kept outputs": program("pass", "self.kept", "self.kept = self.layer(x)"),
    "kept for each step": program(
        "pass", "self.noise.sum()", "self.noise = torch.randn(16, 3, requires_grad=True)"
    ),
    "of a parameter that it has": program(
        "self.start = nn.Parameter(torch.zeros(3)); self.shift = self.start.view(1, 3)"
    ),
}  # fmt: skip
