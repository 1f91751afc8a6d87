"""Of `learnt-reward`: what it accuses, in which iteration, and what it does not."""

NAME = "learnt-reward"
PROGRAM = """
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
temperature = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters(), temperature], lr=0.01)
for iteration in range(4):
    states, rewards = torch.randn(16, 4), torch.randn(16)
    values = critic(states).squeeze(1)
    policy = Categorical(logits=actor(states))
    normal = Normal(actor(states), 1.0)
    {loss}
    optimizer.zero_grad()
    (loss + F.mse_loss(values, rewards)).backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "advantage": program("loss = -(policy.log_prob(policy.sample()) * (rewards - values)).mean()"),
    "turned round": program(
        "actions = policy.sample(); loss = ((values - rewards) * policy.log_prob(actions)).mean()"
    ),
    "negated first": program(
        "chosen = -policy.log_prob(policy.sample()); loss = (chosen * (rewards - values)).sum()"
    ),
    "several actions": program(
        "log_prob = sum(policy.log_prob(policy.sample()) for _ in range(3)); "
        "loss = -((rewards - values) * log_prob).mean()"
    ),
    "stacked": program(
        "chosen = torch.stack([*policy.log_prob(policy.sample())]); "
        "loss = (chosen * (values - rewards)).mean()"
    ),
    "normal": program(
        "chosen = normal.log_prob(normal.sample()).sum(1); loss = -(chosen * values).mean()"
    ),
    "independent": program(
        "whole = Independent(normal, 1); loss = -(whole.log_prob(whole.sample()) * values).mean()"
    ),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = dict.fromkeys(WRONG, "torch.Tensor.detach")
LINES = {"advantage": "loss = ", "normal": "chosen = "}
RIGHT = {
    "detached": program(
        "loss = -(policy.log_prob(policy.sample()) * (rewards - values).detach()).mean()"
    ),
    "rewards": program("loss = -(policy.log_prob(policy.sample()) * rewards).mean()"),
    "a temperature": program(
        "loss = (temperature.exp() * policy.log_prob(policy.sample())).mean() - values.mean()"
    ),
    "entropy": program("loss = (policy.probs * policy.logits).sum(1).mean()"),
    "a draw with gradients": program(
        "actions = normal.rsample(); normal.sample(); "
        "loss = (normal.log_prob(actions).sum(1) * values).mean()"
    ),
    "data": program(
        "weights = actor(states).softmax(1); "
        "loss = -(weights * normal.log_prob(states[:, :3])).mean()"
    ),
    "a mixture": program(
        "mixture = MixtureSameFamily(policy, normal); mixture.sample(); "
        "loss = -mixture.log_prob(rewards).mean()"
    ),
    "two log-probabilities": program(
        "first, second = policy.log_prob(policy.sample()), policy.log_prob(policy.sample()); "
        "loss = (first * second).mean()"
    ),
    "a ratio": program(
        "log_prob = policy.log_prob(policy.sample()); "
        "loss = ((log_prob - log_prob.detach()).exp() * values).mean()"
    ),
    "only printed": program(
        "print((policy.log_prob(policy.sample()) * values).mean().item()); loss = values.sum()"
    ),
}
