"""After how many steps the target network was replaced, on average of a session."""

replaced = []


def start():
    from sb3_contrib.qrdqn import qrdqn

    original = qrdqn.polyak_update

    def polyak_update(params, target_params, tau):
        params = list(params)
        if params:
            replaced.append(len(params))
        original(params, target_params, tau)

    qrdqn.polyak_update = polyak_update


def look(names):
    found = {"replaced": len(replaced)}
    replaced.clear()
    return found
