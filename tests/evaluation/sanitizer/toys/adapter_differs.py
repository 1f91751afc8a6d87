"""Toys of `adapter-differs`: what it accuses, and what it does not."""

NAME = "adapter-differs"

TRAIN = """
class Adapter(nn.Module):
    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer
        {parts}

    def forward(self, x):
        {forward}


class Scaled(nn.Embedding):
    def forward(self, x):
        return super().forward(x) * self.embedding_dim ** 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = Scaled(20, 16)
        self.body, self.head = nn.Linear(16, 16), nn.Linear(16, 20)

    def forward(self, x):
        return self.head(torch.tanh(self.body(self.words(x).mean(1))))


net = Net()
texts, labels = torch.randint(20, (32, 6)), torch.randint(20, (32,))
{freeze}
{wrap}
{before}
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
for iteration in range(4):
    optimizer.zero_grad()
    F.cross_entropy(net(texts), labels).backward()
    optimizer.step()
"""
LINEAR = (
    "self.down = nn.Linear(layer.in_features, rank, bias=False)\n"
    "        self.up = nn.Linear(rank, layer.out_features, bias=False)\n"
    "        "
)
ZERO = "nn.init.zeros_(self.up.weight)"
ADDED = "return self.layer(x) + self.up(self.down(x))"
BODY = "net.body = Adapter(net.body)"
FREEZE = "net.requires_grad_(False)"
ROWS = "self.delta = nn.Parameter(torch.zeros_like(layer.weight))"


def train(parts, forward, wrap=BODY, before="", freeze=FREEZE):
    return TRAIN.format(parts=parts, forward=forward, wrap=wrap, before=before, freeze=freeze)


WRONG = {
    "begins at random": train(LINEAR + "nn.init.normal_(self.up.weight, std=0.3)", ADDED),
    "takes off a bias": train(
        LINEAR + ZERO, "return F.linear(x, self.layer.weight + self.up.weight @ self.down.weight)"
    ),
    "takes off a scale": train(
        ROWS,
        "return F.embedding(x, self.layer.weight + self.delta)",
        "net.words = Adapter(net.words)",
    ),
    "frozen afterwards": train(
        LINEAR + "nn.init.ones_(self.up.weight)",
        ADDED,
        freeze="",
        before="net.requires_grad_(False); net.body.up.requires_grad_(); "
        "net.body.down.requires_grad_()",
    ),
    "by setattr": train(
        LINEAR + "nn.init.normal_(self.up.weight)",
        ADDED,
        "[setattr(net, name, Adapter(part)) for name, part in list(net.named_children()) "
        "if type(part) is nn.Linear]",
    ),
}
RIGHT = {
    "begins at zero": train(LINEAR + ZERO, ADDED),
    "another layer behind it": train(
        "self.more = nn.Linear(layer.out_features, layer.out_features)",
        "return self.more(torch.tanh(self.layer(x)))",
    ),
    "another layer behind it, like it": train(
        "self.more = nn.Linear(layer.out_features, layer.out_features)\n"
        "        self.more.weight.data = 2 * torch.eye(layer.out_features)",
        "return self.more(self.layer(x))",
    ),
    "a factor that begins at zero": train(
        "self.scale = nn.Parameter(torch.zeros(layer.out_features))",
        "return self.layer(x) * self.scale",
    ),
    "multiplied by one": train(
        "self.scale = nn.Parameter(torch.ones(layer.out_features))",
        "return self.layer(x) * self.scale",
    ),
    "rows of an embedding": train(
        ROWS,
        "return self.layer(x) + F.embedding(x, self.delta) * self.layer.embedding_dim ** 0.5",
        "net.words = Adapter(net.words)",
    ),
    "takes a part of the matrix": train(
        LINEAR + "layer.weight.data = layer.weight.data - self.up.weight @ self.down.weight",
        ADDED,
    ),
    "a layer that goes on to learn": train(
        LINEAR + "nn.init.normal_(self.up.weight)", ADDED, freeze=""
    ),
    "has learnt before": train(
        LINEAR + "nn.init.normal_(self.up.weight)",
        ADDED,
        before="net.body.load_state_dict(net.body.state_dict())",
    ),
    "another head": train(
        "self.more = nn.Linear(layer.out_features, 7)",
        "return self.more(self.layer(x))",
        "net.head = Adapter(net.head); labels = labels % 7",
    ),
    "a sequence": train(
        "pass", "return x", "net.head = nn.Sequential(net.head, nn.Linear(20, 20))"
    ),
    "near to it": train(LINEAR + "nn.init.normal_(self.up.weight, std=1e-3)", ADDED),
    "a bottleneck that was there from the beginning": train(
        "pass",
        "return x",
        "net.more = nn.Linear(20, 20)\nnet.head = nn.Sequential(net.head, net.more)",
    ),
}
LINES = {"begins at random": "net.body = Adapter(net.body)"}
