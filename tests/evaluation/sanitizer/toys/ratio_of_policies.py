"""Of `ratio-of-policies`: what it accuses, in which iteration, and what it does not."""

NAME = "ratio-of-policies"
PROGRAM = """
from torch.distributions import Categorical, Normal

policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), {dropout}, nn.Linear(16, 3))
critic = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.01)

def log_probs(states, actions, temperature=1.0):
    return Categorical(logits=policy(states) / temperature).log_prob(actions)

{before}
for rollout in range(3):
    states, returns = torch.randn(64, 4), torch.randn(64)
    with torch.no_grad():
        actions = Categorical(logits=policy(states)).sample()
        old = log_probs(states, actions)
        advantages = returns - critic(states).squeeze(1)
    {change}
    for part in torch.randperm(64).split(32):
        new = log_probs(states[part], actions[part])
        {ratio}
        surrogate = torch.min(
            ratio * advantages[part], torch.clamp(ratio, 0.8, 1.2) * advantages[part]
        )
        loss = F.mse_loss(critic(states[part]).squeeze(1), returns[part]) - surrogate.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def program(
    change="pass",
    ratio="ratio = (new - old[part]).exp()",
    before="pass",
    dropout="nn.Identity()",
):
    return PROGRAM.format(change=change, ratio=ratio, before=before, dropout=dropout)


COPY = (
    "import copy; actor = copy.deepcopy(policy); [nn.init.normal_(p) for p in actor.parameters()]"
)
OLD_ACTOR = "old = Categorical(logits=actor(states)).log_prob(actions).detach()"
PRETRAIN = """
for _ in range({}):
    optimizer.zero_grad(); F.cross_entropy(policy(torch.randn(8, 4)), torch.randint(3, (8,))).backward(); optimizer.step()
"""
WRONG = {
    "dropout": program(dropout="nn.Dropout(0.5)"),
    "a temperature": program("old = log_probs(states, actions, 0.5).detach()"),
    "other actions": program("actions = torch.randint(3, (64,))"),
    "another place": program("old = old.roll(1)"),
    "another actor": program(OLD_ACTOR, before=COPY),
    "inputs normalised since": program("states = (states - states.mean(0)) * 3"),
    "of two numbers": program(
        "old = torch.stack([old / 2, old]) / 2",
        "ratio = (torch.stack([new / 2, new / 2]) - old[:, part]).sum(0).exp()",
    ),
    "of the greater": program("advantages = -advantages; old = old - 1").replace(
        "torch.min(", "-torch.max("
    ),
}  # fmt: skip
APIS = {"dropout": "torch.exp"}
ITERATIONS = dict.fromkeys(WRONG, 1)
LINES = dict.fromkeys(WRONG, "loss.backward()")
RIGHT = {
    "the same policy": program(),
    "it is computed twice": program("actions = torch.randint(3, (64,)); old = log_probs(states, actions).detach()"),
    "a masked surrogate": program(
        "old[:40] = 0.0; mask = torch.ones(64, dtype=bool); mask[:40] = False"
    ).replace("surrogate.mean()", "surrogate[mask[part]].mean()"),
    "some rounded": program("old[:8] = 0.0"),
    "bfloat16": program(
        "old = log_probs(states, actions).detach()",
        "ratio = (new - old[part].bfloat16().float()).exp()",
        before="policy = policy.bfloat16().float(); linear = policy[0]; "
        "policy[0] = nn.Sequential(linear); linear.forward = "
        "lambda x: F.linear(x.bfloat16(), linear.weight.bfloat16(), linear.bias.bfloat16()).float()",
    ),
    "it has learnt before": program(
        "old = old - 1", before=PRETRAIN.format(2)
    ),
    "wide bounds": program("old = old - 1").replace("0.8, 1.2", "0.1, 10.0"),
    "only printed": program("old = old - 1").replace("- surrogate.mean()", "- surrogate.mean().item() + new.mean()"),
    "a temperature of its own": program(
        ratio="scale = (policy[0].bias - 2).exp(); new = new * torch.min(scale, scale.clamp(0.5, 0.9)).sum(); ratio = (new - new.detach()).exp()"
    ),
}  # fmt: skip
