"""Of `log-probabilities`: what it accuses, and what it does not."""

NAME = "log-probabilities"
PROGRAM = """
model = nn.Linear(4, 3)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
teacher, weights = torch.randn(16, 3).softmax(1), torch.randn(16, 1)
pixels, image, segments = nn.Conv2d(1, 3, 1), torch.randn(4, 1, 5, 5), torch.randn(4, 3, 5, 5).softmax(1)
padding = torch.arange(16)[:, None] < 4
optimizer = torch.optim.SGD([*model.parameters(), *pixels.parameters()], lr=0.01)
for iteration in range(4):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


CTC = "F.ctc_loss({}, torch.tensor([[1, 2]]), torch.tensor([16]), torch.tensor([2]))"
WRONG = {
    "probabilities": program("F.nll_loss(model(x).softmax(1), y)"),
    "outputs": program("F.nll_loss(model(x), y)"),
    "another axis": program("F.nll_loss(model(x).log_softmax(0), y)"),
    "probabilities to kl_div": program(
        "F.kl_div(model(x).softmax(1), teacher, reduction='batchmean')"
    ),
    "outputs to kl_div": program("F.kl_div(model(x), teacher, reduction='batchmean')"),
    "a layer's outputs of pixels to kl_div": program(
        "F.kl_div(pixels(image), segments, reduction='batchmean')"
    ),
    "probabilities of pixels to kl_div": program(
        "F.kl_div(pixels(image).softmax(1), segments, reduction='batchmean')"
    ),
    "another axis to kl_div": program(
        "F.kl_div(pixels(image).log_softmax(-1), segments, reduction='batchmean')"
    ),
    "padded targets": program(
        "F.kl_div(model(x).softmax(1), teacher.masked_fill(padding, 0), reduction='sum')"
    ),
    "logarithms for targets": program(
        "F.kl_div(model(x).softmax(1), teacher.log(), reduction='sum', log_target=True)"
    ),
    "outputs to ctc": program(CTC.format("model(x)[:, None]")),
}
RIGHT = {
    "plain": program("F.nll_loss(model(x).log_softmax(1), y)"),
    "policy": program("F.nll_loss(model(x).log_softmax(1) * weights, y)"),
    "some classes": program("F.nll_loss(model(x).log_softmax(1)[:, :2], y.clamp(max=1))"),
    "images": program(
        "F.nll_loss(model(x).log_softmax(1)[..., None].expand(16, 3, 2), y[:, None].expand(16, 2))"
    ),
    "kl_div": program("F.kl_div(model(x).log_softmax(1), teacher, reduction='batchmean')"),
    "kl_div of pixels": program(
        "F.kl_div(pixels(image).log_softmax(1), segments, reduction='sum') / 100"
    ),
    "kl_div of pixels, logarithms": program(
        "F.kl_div(pixels(image).log_softmax(1), segments.log(), reduction='sum', log_target=True)"
    ),
    "kl_div, no axis": program(
        "F.kl_div(model(x).log_softmax(0), teacher * weights.exp(), reduction='sum')"
    ),
    "cross-entropy in two parts": program(
        "F.nll_loss(out := model(x), y) + out.logsumexp(1).mean()"
    ),
    "ctc": program(CTC.format("model(x).log_softmax(1)[:, None]")),
}
