"""How full the battery is at eight in the morning, and what the hours of the evaluation are really worth.

The agent trades as in the evaluation, and on for as long as a later hour counts for anything.
"""


def start():
    pass


def look(names):
    agent, config = names["agent"], names["config"]
    hours, later = 24 * config["evaluation_days"], 200
    env = type(names["env"])(*names["kind"], time_limit=None, seed=1000 + config["seed"])
    state = env.reset()
    charges, rewards, ends = [], [], []
    for _ in range(hours + later):
        if env.hour == 8:
            charges.append(env.charge)
        state, reward, terminated, _ = env.step(agent.values(state).argmax().item())
        rewards.append(reward)
        ends.append(terminated)
        if terminated:
            state = env.reset()
    worth, total = [], 0.0
    for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
        total = reward + (0.0 if end else config["discount"] * total)
        worth.append(total)
    return {
        "charge_at_eight": sum(charges) / len(charges),
        "worth": sum(worth[later:]) / hours,
    }
