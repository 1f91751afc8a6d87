"""Toys of `dropout-in-evaluation`: what it accuses, in which iteration, and what it does not."""

NAME = "dropout-in-evaluation"

PROGRAM = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.drop, self.head = nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)
        self.kept = [nn.Dropout(0.5)]

    def forward(self, x):
        x = self.into(x)
        {middle}
        return self.head(x)

torch.manual_seed(0)
model = {model}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 4), torch.randint(2, (64,))
for iteration in range(6):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
    if iteration % 3 == 1:
        model.eval()
        with torch.{mode}():
            {judge}
"""
ATTENTION = (
    "q = x.view(1, 1, -1, 8); x = F.scaled_dot_product_attention(q, q, q, dropout_p={p}).view(-1, "
    "8)"
)


def program(middle, judge="model(points)", mode="no_grad", model="Net()"):
    return PROGRAM.format(middle=middle, judge=judge, mode=mode, model=model)


WRONG = {
    "attention": program(ATTENTION.format(p="0.1"), mode="inference_mode"),
    "default of training": program("x = F.dropout(x, 0.3)"),
    "of channels": program("x = F.dropout1d(x, 0.3)"),
    "made in forward": program("x = nn.Dropout(0.3)(x)"),
    "kept in a list": program("x = self.kept[0](x)"),
    "in batches": program("x = F.dropout(x)", "[model(half) for half in points.split(32)]"),
    "compiled": program("x = F.dropout(x)", model="torch.compile(Net(), backend='eager')"),
}
RIGHT = {
    "a decision": program("x = F.dropout(x, 0.1)", "model(points[iteration : iteration + 1])"),
    "a decision, not in a batch": program("x = F.dropout(x, 0.1)", "model(points[iteration])"),
    "uncertainty in one call": program("x = F.dropout(x, 0.1)", "model(points.repeat(10, 1))"),
    "uncertainty by neighbours": program(
        "x = F.dropout(x, 0.1)", "model(points.repeat_interleave(10, 0))"
    ),
    "module": program("x = self.drop(x)"),
    "attention that looks at the mode": program(
        ATTENTION.format(p="0.1 if self.training else 0.0")
    ),
    "function that looks at the mode": program("x = F.dropout(x, 0.3, self.training)"),
    "nothing to drop": program("x = F.dropout(x, 0.0)"),
    "meant": program("x = F.dropout(x, 0.3, training=True)"),
    "uncertainty by modules": program(
        "x = self.drop(x)", "model.drop.train(); model(points); model(points)"
    ),
    "uncertainty by a function": program("x = F.dropout(x)", "[model(points) for _ in range(5)]"),
    "uncertainty of batches": program(
        "x = F.dropout(x)", "[model(h) for _ in range(5) for h in points.split(32)]"
    ),
    "sampling": program("x = x + torch.randn_like(x)"),
    "binary samples": program("x = torch.bernoulli(torch.sigmoid(x))"),
    "mask of an autoencoder": program("x = x * torch.empty_like(x).bernoulli_(0.5)"),
    "only in training": program("x = F.dropout(x) if self.training else x"),
    "compiled": program("x = self.drop(x)", model="torch.compile(Net(), backend='eager')"),
}

ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = dict.fromkeys(WRONG, "torch.nn.functional.dropout") | {
    "attention": "torch.nn.functional.scaled_dot_product_attention",
    "of channels": "torch.nn.functional.dropout1d",
}
LINES = dict.fromkeys(WRONG, "model(")
