"""Of `overwritten-input`: what it accuses, and what it does not."""

NAME = "overwritten-input"
PROGRAM = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential({first}, nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.act, self.layer = nn.ReLU(inplace=True), nn.Linear(8, 8)

    def forward(self, x):
        {forward}


model = nn.Sequential(nn.Linear(4, 8), Block(), Block(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(6):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 2)).backward()
    optimizer.step()
"""
IN_PLACE, PLAIN = "nn.ReLU(inplace=True)", "nn.ReLU()"


def program(forward, first=IN_PLACE):
    return PROGRAM.format(forward=forward.replace("; ", "\n        "), first=first)


WRONG = {
    "a shortcut": program("y = self.body(x); y = y + x; return y"),
    "in place itself": program("y = self.body(x); y += x; return y"),
    "a module by itself": program("y = self.act(x); return self.layer(y) + x"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.relu")
RIGHT = {
    "a new tensor": program("y = self.body(x); return y + x", PLAIN),
    "bound anew": program("x = self.act(x); return self.layer(x) + x"),
    "read before": program("z = 2 * x; return z + self.body(x)"),
    "its own": program("y = F.relu(x, inplace=True); return self.layer(y) + x"),
    "behind a layer": program("y = self.body(x); return y + x", "nn.Linear(8, 8), " + IN_PLACE),
    "its shape": program("y = self.body(x); return y.view(x.shape[0], x.size(1))"),
    "a statement": program("self.act(x); return self.layer(x) + x"),
    "nothing lost": program("x = x.square(); y = self.body(x); return y + x"),
}
# It asks whether its activation is `F.relu` itself, and is as fast as it can be if so.
RIGHT["torch's own layer"] = """
layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for iteration in range(4):
    optimizer.zero_grad()
    layer(torch.randn(4, 5, 8)).square().mean().backward()
    optimizer.step()
print("fast", layer.activation_relu_or_gelu)
"""
# TorchScript reads the source of all that it meets.
RIGHT["scripted"] = """
body = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.1), nn.ReLU(), nn.Softmax(1))
model = torch.jit.script(nn.Sequential(body, nn.ELU(), nn.SiLU(), nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(4):
    optimizer.zero_grad()
    model(torch.randn(4, 4)).square().mean().backward()
    optimizer.step()
"""
OUTPUTS = {"torch's own layer": ("fast 1", 1)}
