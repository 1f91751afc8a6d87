"""Of `input-scale`: what it accuses, and what it does not."""

NAME = "input-scale"
PROGRAM = """
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(8):
    x, y = torch.rand(16, 3, 8, 8) {trained}, torch.randint(2, (16,))
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model({test})
"""


def program(test, trained=""):
    return PROGRAM.format(test=test, trained=trained)


WRONG = {
    "bytes": program("255 * torch.rand(16, 3, 8, 8)"),
    "bytes in training only": program("torch.rand(16, 3, 8, 8)", "* 255"),
}
RIGHT = {
    "alike": program("torch.rand(16, 3, 8, 8)"),
    "brighter": program("3 * torch.rand(16, 3, 8, 8)"),
    "zeros": program("torch.zeros(16, 3, 8, 8)"),
    "noise": program("80 * torch.randn(16, 3, 8, 8)"),
    "a sample to try it out": program("torch.rand(1, 3, 8, 8)", "* 255"),
    "zeros, not bytes": program("torch.zeros(16, 3, 8, 8)", "* 255"),
    "noise, not bytes": program("torch.randn(16, 3, 8, 8)", "* 255"),
    "trained with noise": program("torch.rand(16, 3, 8, 8)", "* 510 - 255"),
    "darker": program("torch.rand(16, 3, 8, 8)", "* 20"),
    "fewer axes": program("torch.rand(3, 8, 8)").replace("nn.Flatten()", "nn.Flatten(-3)"),
    "of any size": program("255 * torch.rand(16, 3, 8, 8)", "* 10 ** (iteration % 3)"),
}
