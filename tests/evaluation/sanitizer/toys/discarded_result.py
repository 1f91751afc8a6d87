"""Of `discarded-result`: what it accuses, in which iteration, and what it does not."""

NAME = "discarded-result"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.seen = nn.Linear(4, 3), set()

    def forward(self, x):
        h = self.layer(x)
        {inside}
        return h


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
for iteration in range(6):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    {after}
    optimizer.step()
"""


def program(inside="pass", after="pass"):
    return PROGRAM.format(inside=inside, after=after)


WRONG = {
    "a mask": program("h.masked_fill(h < 0, -1e9)"),
    "on two lines": program("h.masked_fill(\n            h < 0, -1e9)"),
    "weights": program(after="[*model.parameters()][0].data.clamp(-0.1, 0.1)"),
    "gradients": program(after="model.layer.weight.grad.mul(0.5)"),
    "detached": program("h.detach()"),
    "dropout": program("F.dropout(h, 0.5, self.training)"),
    "a function": program("torch.clamp(h, 0, 1)"),
    "by its whole name": program("torch.nn.functional.relu(h)"),
}
ITERATIONS = dict.fromkeys(WRONG, 4)
APIS = {
    "a mask": "torch.Tensor.masked_fill",
    "dropout": "torch.nn.functional.dropout",
    "a function": "torch.clamp",
}
LINES = {"a mask": "h.masked_fill(", "weights": "data.clamp("}
RIGHT = {
    "kept": program("h = h.masked_fill(h < -9, -1e9)"),
    "in place": program(after="model.layer.weight.grad.mul_(0.5)"),
    "a function in place": program("F.elu(h, inplace=True)"),
    "given out": program(after="torch.clamp(model.layer.weight.data, -1, 1, out=model.layer.weight.data)"),
    "of a set": program("self.seen.add(len(x))"),
    "handed on": program("print(h.clamp(0, 1).sum().item())"),
    "a backward pass": program(after="(0 * model.layer.weight.square().sum()).backward()"),
    "random numbers": program("torch.rand(3)"),
    "twice": program(after="iteration > 2 or model.layer.weight.data.exp()"),
}  # fmt: skip
