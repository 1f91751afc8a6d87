"""Of `learnt-target`: what it accuses, in which iteration, and what it does not."""

NAME = "learnt-target"
PROGRAM = """
import copy

body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, {outputs}))
other = copy.deepcopy(body)
optimizer = torch.optim.SGD([*body.parameters(), *other.parameters()], lr=0.01)
for iteration in range(4):
    states, following = torch.randn(16, 4), torch.randn(16, 4)
    rewards, done = torch.randn(16), (torch.rand(16) < 0.1).float()
    actions = torch.randint(3, (16, 1))
    {loss}
    optimizer.zero_grad()
    (loss + 0 * sum(p.sum() for p in [*body.parameters(), *other.parameters()])).backward()
    optimizer.step()
"""


def program(loss, outputs=1):
    return PROGRAM.format(loss=loss, outputs=outputs)


VALUES = "v, after = body(states).squeeze(1), body(following).squeeze(1); "
CHOSEN = "v = body(states).gather(1, actions).squeeze(1); "
TARGET = "rewards + 0.9 * after * (1 - done)"
WRONG = {
    "mse_loss": program(VALUES + f"loss = F.mse_loss(v, {TARGET})"),
    "a module": program(VALUES + f"loss = nn.SmoothL1Loss()(v, {TARGET})"),
    "huber_loss, swapped": program(VALUES + f"loss = F.huber_loss({TARGET}, v)"),
    "a square": program(VALUES + f"loss = ({TARGET} - v).pow(2).mean()"),
    "a product": program(VALUES + f"delta = {TARGET} - v; loss = 0.5 * (delta * delta).mean()"),
    "the mask first": program(VALUES + "loss = F.mse_loss(v, rewards + (1 - done) * 0.99 * after)"),
    "the best action": program(
        CHOSEN + f"after = body(following).max(1)[0]; loss = F.mse_loss(v, {TARGET})", 3
    ),
    "the largest of all": program(
        CHOSEN + f"after = body(following).amax(1); loss = F.mse_loss(v, {TARGET})", 3
    ),
    "one pass": program(
        "v = body(states).squeeze(1); loss = F.mse_loss(v[:-1], rewards[:-1] + 0.9 * v[1:])"
    ),
    "two steps": program(
        VALUES + "loss = F.mse_loss(v, rewards + 0.9 * (rewards + 0.9 * after))"
    ),
    "a switch": program(
        VALUES + "loss = F.mse_loss(v, rewards + 0.9 * torch.where(done > 0, 0.0, after))"
    ),
}  # fmt: skip
APIS = {"mse_loss": "torch.Tensor.detach"}
LINES = {"mse_loss": "loss = ", "a module": "loss = ", "a square": ".backward()"}
ITERATIONS = dict.fromkeys(WRONG, 1)
RIGHT = {
    "detached": program(VALUES + f"loss = F.mse_loss(v, ({TARGET}).detach())"),
    "without gradients": program(
        "v = body(states).squeeze(1)\n    with torch.no_grad(): after = body(following).squeeze(1)\n"
        f"    loss = F.mse_loss(v, {TARGET})"
    ),
    "another network": program(
        f"v, after = body(states).squeeze(1), other(following).squeeze(1); loss = F.mse_loss(v, {TARGET})"
    ),
    "a twin": program(VALUES + "loss = F.mse_loss(v, after)"),
    "a shift": program(VALUES + "loss = F.mse_loss(v, after + rewards)"),
    "a scale": program(VALUES + "loss = F.mse_loss(v, after * 0.9)"),
    "a small step in time": program(VALUES + "loss = F.mse_loss(v, rewards + 0.01 * after)"),
    "a large scale": program(VALUES + "loss = F.mse_loss(v, rewards + 3 * after)"),
    "a learnt reward": program(
        VALUES + "gain = other(states).squeeze(1); loss = F.mse_loss(v, 0.9 * after + gain)"
    ),
    "the same call": program(
        "v = body(states).squeeze(1); loss = F.mse_loss(v, rewards + 0.9 * v)"
    ),
    "a difference": program(VALUES + "loss = F.mse_loss(v - after, rewards)"),
    "another output": program(
        "first, second = body(states).unbind(1); loss = F.mse_loss(first, rewards + 0.9 * second)", 2
    ),
    "another column": program(
        "out = body(states); loss = F.mse_loss(out[:, 0], rewards + 0.9 * out[:, 1])", 2
    ),
    "labels that are mixed": program(
        VALUES + "loss = F.mse_loss(v, 0.2 * rewards - 0.8 * after)"
    ),
    "the other side of a difference": program(VALUES + "loss = F.mse_loss(v, rewards - after)"),
}  # fmt: skip
