"""Of `left-behind`: what it accuses, and what it does not."""

NAME = "left-behind"
PROGRAM = """
import copy

actor, critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Linear(3, 1)
slow_actor, slow_critic = copy.deepcopy(actor), copy.deepcopy(critic)
average = copy.deepcopy(actor)
actor_optimizer = torch.optim.SGD(actor.parameters(), lr=1e-2)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)


def follow(target, source):
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), source.parameters()):
            slow.lerp_(fast, 0.1)


for iteration in range(150):
    states, rewards = torch.randn(16, 2), torch.randn(16, 1)
    with torch.no_grad():
        {values}
        average(states)
    critic_optimizer.zero_grad()
    actions = torch.randn(16, 1)
    F.mse_loss(critic(torch.cat([states, actions], 1)), targets).backward()
    critic_optimizer.step()
    actor_optimizer.zero_grad()
    critic(torch.cat([states, actor(states)], 1)).square().mean().backward()
    actor_optimizer.step()
    {update}
"""
VALUES = "targets = rewards + 0.9 * slow_critic(torch.cat([states, slow_actor(states)], 1))"
NO_ACTOR = "targets = rewards + 0.9 * slow_critic(torch.cat([states, actor(states)], 1))"
BOTH = "follow(slow_critic, critic); follow(slow_actor, actor); follow(average, actor)"


def program(update, values=VALUES):
    return PROGRAM.format(update=update, values=values)


WRONG = {
    "actor": program("follow(slow_critic, critic)"),
    "critic": program("follow(slow_actor, actor)"),
    "loaded from time to time": program(
        "iteration % 3 or slow_critic.load_state_dict(critic.state_dict())"
    ),
    "the wrong way round": program("follow(slow_critic, critic); follow(actor, slow_actor)"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.load_state_dict")
RIGHT = {
    "both": program(BOTH),
    "from time to time": program(
        "iteration % 3 or [slow.load_state_dict(fast.state_dict()) for slow, fast in "
        "((slow_actor, actor), (slow_critic, critic), (average, actor))]"
    ),
    "a fixed reference beside": program("follow(slow_critic, critic); follow(slow_actor, actor)"),
    "none": program("pass"),
    "not called": program("follow(slow_critic, critic)", NO_ACTOR).replace("average(states)", "pass"),
    "another start": program("follow(slow_critic, critic)").replace(
        "average = copy.deepcopy(actor)",
        "average, slow_actor = [nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in 'ab']",
    ),
    "rarely": program("follow(slow_critic, critic); iteration % 60 or follow(slow_actor, actor)"),
}  # fmt: skip
