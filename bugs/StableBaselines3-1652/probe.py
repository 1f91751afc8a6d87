"""The largest torque that the motor was asked for, in training and in the episodes that judge."""

largest = {}


def start():
    from gymnasium.envs.classic_control import PendulumEnv

    original = PendulumEnv.step

    def step(self, u):
        largest[id(self)] = max(largest.get(id(self), 0.0), abs(float(u[0])))
        return original(self, u)

    PendulumEnv.step = step


def look(names):
    found = {}
    for name, environments in (("torque", names["model"].env), ("validation_torque", names["others"])):
        found[name] = max(largest[id(environment.unwrapped)] for environment in environments.envs)
    largest.clear()
    return found
