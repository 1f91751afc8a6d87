"""Of `decay-groups`: what it accuses, and what it does not."""

NAME = "decay-groups"
PROGRAM = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return x + self.norm(torch.tanh(self.first(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())
        self.last_norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.last_norm(self.blocks(x)))

model = Net()
named = list(model.named_parameters())
{freeze}
spared = [p for n, p in named if {rule}]
ids = set(map(id, spared))
others = [p for n, p in named if id(p) not in ids]
optimizer = torch.optim.AdamW([
    {{"params": others, "weight_decay": {decay}}}, {{"params": spared, "weight_decay": 0.0}}])
for step in range(3):
    x, y = torch.randn(16, 8), torch.randint(2, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def program(rule, freeze="pass", decay=0.1):
    return PROGRAM.format(rule=rule, freeze=freeze, decay=decay)


WRONG = {
    "names of another model": program("'LayerNorm.weight' in n"),
    "only the last one": program("n.endswith('bias') or n.startswith('last_norm')"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
PARAMETERS = {
    "names of another model": "blocks.0.norm.weight",
    "only the last one": "blocks.0.norm.weight",
}
LINES = dict.fromkeys(WRONG, "optimizer.step()")
RIGHT = {
    "all vectors": program("p.dim() < 2"),
    "norms": program("'norm' in n"),
    "biases alone": program("n.endswith('bias')"),
    "a whole head": program("n.startswith('last_norm') or n.startswith('head')"),
    "a head of its own": program("n.startswith('last_norm') or n == 'head.bias'"),
    "no decay at all": program("'LayerNorm.weight' in n", decay=0.0),
    "frozen norms": program(
        "n == 'none'", "[p.requires_grad_(False) for n, p in named if 'norm' in n]"
    ),
    "one group": program("p.dim() < 2")
    .replace('{"params": spared', '{"params": [*spared, *others]')
    .replace('{"params": others, "weight_decay": 0.1},', ""),
}
