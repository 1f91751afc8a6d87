"""Toys of `wrong-backward`: what it accuses, and what it does not."""

NAME = "wrong-backward"

TRAIN = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {inputs}):
{forward}

    @staticmethod
    def backward(ctx, gradient):
{backward}


net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
scale = nn.Parameter(torch.tensor([0.5, 1.0, 2.0]))
optimizer = torch.optim.SGD([*net.parameters(), scale], lr=0.01)
points, labels = torch.randn(32, 4), torch.randint(3, (32,))
for iteration in range(5):
    optimizer.zero_grad()
    outputs = net(points)
    {loss}
    loss.backward()
    optimizer.step()
"""


def train(forward, backward, loss, inputs="x"):
    def indented(text):
        return "\n".join(" " * 8 + line for line in text.splitlines())

    return TRAIN.format(
        inputs=inputs, forward=indented(forward), backward=indented(backward), loss=loss
    )


USED = "loss = F.cross_entropy(Own.apply(outputs) * scale, labels)"
LOSS = "loss = Own.apply(outputs, labels) + scale.sum() * 0.01"
SCALED = "loss = F.cross_entropy(Own.apply(outputs, scale), labels)"
SAVE, LOADED = "ctx.save_for_backward(x)\n", "x, = ctx.saved_tensors\n"
BOTH, BOTH_LOADED = "ctx.save_for_backward(x, y)\n", "x, y = ctx.saved_tensors\n"
SOFTMAX = (
    "ctx.save_for_backward(x.softmax(1), y)\nreturn -x.log_softmax(1).gather(1, y[:, None]).mean()"
)
BY_TARGETS = "p, y = ctx.saved_tensors\nd = p - F.one_hot(y, 3)\n"
WRONG = {
    "a factor": train(SAVE + "return x ** 3", LOADED + "return gradient * 2 * x ** 2", USED),
    "a sign": train(SAVE + "return torch.cos(x)", LOADED + "return gradient * torch.sin(x)", USED),
    "a term": train(
        SAVE + "return x * torch.sigmoid(x)",
        LOADED + "s = torch.sigmoid(x)\nreturn gradient * x * s * (1 - s)",
        USED,
    ),
    "a mean that is no mean in backward": train(
        SOFTMAX, BY_TARGETS + "return gradient * d, None", LOSS, "x, y"
    ),
    "the gradient from above is forgotten": train(
        SAVE + "return x ** 2", LOADED + "return 2 * x", USED
    ),
    "of the second argument": train(
        BOTH + "return x * y ** 2",
        BOTH_LOADED + "return gradient * y ** 2, (gradient * x).sum(0)",
        SCALED,
        "x, y",
    ),
    "an axis": train(
        SAVE + "return x - x.mean(1, keepdim=True)",
        LOADED + "return gradient - gradient.mean(0, keepdim=True)",
        USED,
    ),
}
RIGHT = {
    "a power": train(SAVE + "return x ** 3", LOADED + "return gradient * 3 * x ** 2", USED),
    "swish": train(
        SAVE + "return x * torch.sigmoid(x)",
        LOADED + "s = torch.sigmoid(x)\nreturn gradient * (s + x * s * (1 - s))",
        USED,
    ),
    "a loss": train(SOFTMAX, BY_TARGETS + "return gradient * d / len(d), None", LOSS, "x, y"),
    "a loss that is the last": train(SOFTMAX, BY_TARGETS + "return d / len(d), None", LOSS, "x, y"),
    "two arguments": train(
        BOTH + "return x * y ** 2",
        BOTH_LOADED + "return gradient * y ** 2, (gradient * x * 2 * y).sum(0)",
        SCALED,
        "x, y",
    ),
    "no gradient for the second": train(
        BOTH + "return x * y ** 2",
        BOTH_LOADED + "return gradient * y ** 2, None",
        SCALED.replace("scale)", "scale) * scale"),
        "x, y",
    ),
    "reversal": train("return x.view_as(x)", "return -gradient", USED),
    "clipped gradients": train("return x.clone()", "return gradient.clamp(-1e-3, 1e-3)", USED),
    "straight through": train("return x.round()", "return gradient", USED),
    "a spike": train(
        SAVE + "return (x > 0).to(x.dtype)", LOADED + "return gradient / (1 + x ** 2)", USED
    ),
    "learnt steps of rounding": train(
        BOTH + "return (x / y).round() * y",
        BOTH_LOADED + "return gradient, (gradient * ((x / y).round() - x / y)).sum(0)",
        SCALED,
        "x, y",
    ),
    "the nearest row, with mean gradients, of outputs without any": train(
        "place = torch.cdist(x, y).argmin(1)\nctx.save_for_backward(place)\n"
        "ctx.rows = len(y)\nreturn y[place]",
        "place, = ctx.saved_tensors\n"
        "one = F.one_hot(place, ctx.rows).to(gradient.dtype)\n"
        "return gradient, one.T @ gradient / one.sum(0).clamp(min=1)[:, None]",
        "loss = F.cross_entropy(Own.apply(outputs.detach(), book) + outputs, labels)",
        "x, y",
    )
    .replace("optimizer =", "book = nn.Parameter(torch.randn(5, 3))\noptimizer =", 1)
    .replace("scale], lr", "scale, book], lr"),
    "a kink": train(SAVE + "return x.clamp(min=0)", LOADED + "return gradient * (x > 0)", USED),
    "noise": train(
        "mask = (torch.rand_like(x) > 0.5).to(x.dtype) * 2\n"
        "ctx.save_for_backward(mask)\nreturn x * mask",
        "mask, = ctx.saved_tensors\nreturn gradient * mask",
        USED,
    ),
    "signs": train("ctx.scale = 1\nreturn x.sign()", "return gradient * ctx.scale", USED),
}
APIS = {"a factor": "Own.backward"}
LINES = {"a factor": "Own.apply(outputs)"}
