"""Toys of `discarded-function`: on what it advises, and on what it does not."""

NAME = "discarded-function"

TRAIN = """
class Auxiliary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, output, loss):
        ctx.save_for_backward(loss)
        return output

    @staticmethod
    def backward(ctx, gradient):
        loss, = ctx.saved_tensors
        return gradient, torch.ones_like(loss) * 0.1


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


body, head, router = nn.Linear(4, 16), nn.Linear(16, 3), nn.Linear(4, 16)
parameters = [*body.parameters(), *head.parameters(), *router.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1)
points, labels = torch.randn(32, 4), torch.randint(3, (32,))
for iteration in range({steps}):
    gates = router(points).softmax(1)
    hidden = torch.tanh(body(points)) * gates
    balance = (gates.mean(0) ** 2).sum()
    {use}
    loss = F.cross_entropy(head(hidden), labels)
    optimizer.zero_grad()
    loss.backward()
    {after}
    optimizer.step()
"""


def train(use, steps=12, after="pass"):
    return TRAIN.format(use=use, steps=steps, after=after)


ADVISED = {
    "a loss that is thrown away": train("Auxiliary.apply(hidden, balance)"),
    "kept in a name that nobody reads": train("scaled = Auxiliary.apply(hidden, balance)"),
    "overwritten": train("scaled = Auxiliary.apply(hidden, balance); scaled = hidden"),
    "detached": train("hidden = hidden + 0 * Twice.apply(hidden).detach()"),
    "its number alone": train("weight = Twice.apply(balance).item()"),
}
RIGHT = {
    "in its place": train("hidden = Auxiliary.apply(hidden, balance)"),
    "a part of the loss": train("hidden = Twice.apply(hidden)"),
    "without gradients": train("Twice.apply(hidden.detach())"),
    "now and then": train("iteration % 3 or Twice.apply(hidden)"),
    "few steps": train("Twice.apply(hidden)", steps=5),
    "a measure under no_grad": train("with torch.no_grad(): Twice.apply(hidden)"),
    "thrown away once": train("hidden = Twice.apply(hidden); Twice.apply(hidden)"),
    "the last micro-batch alone": train("hidden = Twice.apply(hidden) if iteration % 2 else hidden"),
    "a second loss": train("second = Twice.apply(hidden).mean()", after="second.backward()")
    .replace("loss.backward()", "loss.backward(retain_graph=True)"),
}  # fmt: skip
