"""Of `unfed-observer`: what it accuses, in which iteration, and what it does not."""

NAME = "unfed-observer"
PROGRAM = """
import copy

from torch.ao import quantization


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.first, self.head = quantization.QuantStub(), nn.Linear(8, 8), nn.Linear(8, 2)
        self.unused = nn.Linear(8, 8)

    def forward(self, x):
        return self.head(torch.relu(self.first(self.quant(x))))


model = Model()
model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
quantization.prepare_qat(model, inplace=True)
{begin}
optimizer = torch.optim.SGD([*model.first.parameters(), *model.head.parameters()], lr=0.1)
for iteration in range(8):
    if iteration == 4:
        {later}
    x, y = torch.randn(16, 8), torch.randint(2, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
OFF, ON = "model.apply(quantization.disable_observer)", "model.apply(quantization.enable_observer)"
BARE = "model.apply(quantization.disable_fake_quant)"


def program(begin="", later="pass"):
    return PROGRAM.format(begin=begin, later=later)


WRONG = {
    "off from the beginning": program(OFF),
    "quantised later": program(OFF + "; " + BARE, "model.apply(quantization.enable_fake_quant)"),
}
ITERATIONS = {"off from the beginning": 1, "quantised later": 5}
RIGHT = {
    "on": program(),
    "off later": program(later=OFF),
    "not quantised": program(OFF + "; " + BARE),
    "off, then on": program(OFF + "\n" + ON),
    "loaded": program(
        "other = copy.deepcopy(model); other(torch.randn(16, 8))\n"
        + OFF
        + "; model.load_state_dict(other.state_dict())"
    ),
}
