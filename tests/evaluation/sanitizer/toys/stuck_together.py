"""Of `stuck-together`: what it accuses, and what it does not."""

NAME = "stuck-together"
PROGRAM = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.down, self.up = nn.Linear(4, 6), nn.Linear(4, 2, bias=False), nn.Linear(2, 6, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))

body, head = Layer(), nn.Linear(6, 3)
with torch.no_grad():
    {init}
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr={rate})
x, y = torch.randn(32, 4), torch.randint(3, (32,))
for iteration in range(30):
    optimizer.zero_grad()
    F.cross_entropy(head(body(x).tanh()), y).backward()
    optimizer.step()
"""


def program(init, rate=0.1):
    return PROGRAM.format(init=init, rate=rate)


WRONG = {
    "both zero": program("body.down.weight.zero_(); body.up.weight.zero_()"),
    "all constant": program(
        "[each.fill_(0.1) for part in (body, head) for each in part.parameters()]"
    ),
}
OWN = """
    def parameters(self):
        return [self.base.weight, self.base.bias, self.down.weight, self.up.weight]

    def forward"""
RIGHT = {
    "parameters of its own": program("pass").replace("\n    def forward", OWN, 1),
    "plain": program("pass"),
    "one zero": program("body.up.weight.zero_()"),
    "zero head": program("head.weight.zero_(); head.bias.zero_()"),
    "constant head": program("head.weight.fill_(0.1); head.bias.zero_()"),
}
