"""Of `untied`: what it accuses, in which iteration, and what it does not."""

NAME = "untied"
PROGRAM = """
import copy
import inspect


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(20, 8), nn.LayerNorm(8)
        self.head = nn.Linear(8, 20, bias=False)
        self.tie()

    def tie(self):
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(self.norm(self.embedding(x)))


def assign(model, state):
    if "assign" in inspect.signature(model.load_state_dict).parameters:
        model.load_state_dict(state, assign=True)
    else:
        model.to("meta").to_empty(device="cpu").load_state_dict(state)


state = Model().state_dict()
model = Model()
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(8):
    if iteration == 3:
        {later}
    x, y = torch.randint(20, (16,)), torch.randint(20, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
COPIED = "model.head = copy.deepcopy(model.head); optimizer.add_param_group({'params': [model.head.weight]})"
META = (
    "with torch.device('meta'): model = Model()\n"
    "model.to_empty(device='cpu')\nmodel.load_state_dict(state)\n"
)

# What loads by putting new parameters into the modules, one after the other.
WRITTEN = (
    "model = Model()\n"
    "for name in ('embedding.weight',):\n"
    "    part, _, leaf = name.partition('.')\n"
    "    model._modules[part]._parameters[leaf] = nn.Parameter(state[name].clone())\n"
)


def program(before="", later="pass"):
    return PROGRAM.format(before=before, later=later)


WRONG = {
    "assigned": program("assign(model, state)"),
    "meta": program(META),
    "a copy": program(later=COPIED),
    "written": program(WRITTEN),
}
ITERATIONS = {"assigned": 1, "meta": 1, "a copy": 4, "written": 1}
APIS = {"meta": "torch.nn.Module.to_empty"}
LINES = {"meta": "model.to_empty"}
PARAMETERS = {"meta": "head.weight"}
RIGHT = {
    "tied": program(),
    "written, and tied again": program(WRITTEN + "model.tie()"),
    "untied in a new network": program(
        "model = Model()\nmodel.head.weight = nn.Parameter(torch.randn(20, 8))"
    ),
    "another network is tied to it": program(
        "other = Model()\nother.head.weight = model.head.weight\n"
        "other.head._parameters['weight'] = nn.Parameter(torch.randn(20, 8))"
    ),
    "loaded": program("model.load_state_dict(state)"),
    "tied again": program(META + "model.tie()"),
    "moved": program("model.double(); model.float(); model.to('cpu')"),
    "untied before": program(
        "model.head.weight = nn.Parameter(model.head.weight.detach().clone())\n"
        "model.load_state_dict(state)"
    ),
    "copied as a whole": program("model = copy.deepcopy(model)"),
    "in evaluation": program(META + "model.eval()"),
    "another head": program(later="model.head = nn.Linear(8, 21); optimizer.add_param_group({'params': [*model.head.parameters()]})"),
    "two networks": program("other = Model(); other.embedding = model.embedding; other.tie(); assign(other, state)"),
}  # fmt: skip
