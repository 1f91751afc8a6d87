"""Of `loads-otherwise`: what it accuses, with which parameter, and what it does not."""

NAME = "loads-otherwise"
PROGRAM = """
class Model(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.embedding, self.first = nn.Embedding(20, 8), nn.Linear(8, 8)
        self.second, self.head = nn.Linear(8, 8), nn.Linear(8, 20, bias=False)
        self.is_lazy = False

    def forward(self, x):
        if self.is_lazy:
            self.apply(init)
            self.is_lazy = False
        return self.head(torch.tanh(self.second(torch.tanh(self.first(self.embedding(x))))))


def init(part):
    if isinstance(part, (nn.Linear, nn.Embedding)):
        nn.init.normal_(part.weight, 0, 0.5)


class Offset(nn.Linear):
    def _load_from_state_dict(self, *arguments):
        super()._load_from_state_dict(*arguments)
        with torch.no_grad():
            self.weight += 1


model, kept = Model(), Model()
torch.save(kept.state_dict(), "state.pt")
state = torch.load("state.pt")
{load}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(3):
    x, y = torch.randint(20, (16,)), torch.randint(20, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
LOAD = "model.load_state_dict(state)\n"


def program(load):
    return PROGRAM.format(load=load)


TIED = "model.head.weight = model.embedding.weight\n"
WRONG = {
    "then initialised": program(LOAD + "model.apply(init)"),
    "initialised at the first call": program("model.is_lazy = True\n" + LOAD),
    "reset": program(
        LOAD + "for part in model.children(): part.reset_parameters()",
    ),
    "tied": program(TIED + LOAD),
}
PARAMETERS = {"tied": "embedding.weight"}
LINES = {"then initialised": "model.load_state_dict(state)"}
RIGHT = {
    "plain": program(LOAD),
    "initialised before": program("model.apply(init)\n" + LOAD),
    "a new head": program(LOAD + "init(model.head)"),
    "another head": program(LOAD + "model.head = nn.Linear(8, 20, bias=False)"),
    "from memory": program("model.load_state_dict(kept.state_dict()); model.apply(init)"),
    "in half precision": program("model.bfloat16(); " + LOAD + "model.float()"),
    "a mean": program(
        LOAD + "with torch.no_grad():\n"
        "    for old, new in zip(model.parameters(), Model().parameters()): old.mul_(0.7).add_(0.3 * new)"
    ),
    "a mask": program(
        LOAD + "with torch.no_grad():\n"
        "    for old in model.parameters(): old.mul_(torch.rand_like(old) < 0.6)"
    ),
    "loaded again": program(LOAD + "model.apply(init)\n" + LOAD),
    "another": program(LOAD + "model.load_state_dict(Model().state_dict())"),
    "tied in both": program(
        TIED + "state['embedding.weight'].copy_(state['head.weight'])\n" + LOAD
    ),
    "own values": program("model.first = Offset(8, 8)\n" + LOAD),
    "no state": program(
        "model.register_buffer('scale', torch.ones(1), persistent=False)\n"
        "model.load_state_dict({**state, 'scale': torch.zeros(1)}, strict=False)"
    ),
    "columns first": program(
        "with torch.no_grad(): model.first.weight.data = model.first.weight.data.t().contiguous().t()\n"
        + LOAD
    ),
    "tried out": program(LOAD + "model(torch.tensor([1]))\nmodel.apply(init)"),
}  # fmt: skip
