"""Step every optimizer of torch.optim, once as ordinary Python and once compiled, under five kinds of gradients.

Three small matrices are trained for six iterations. What enters the loss decides which gradients there are: a matrix
that is left out has none. For every optimizer, implementation and scenario one JSON object says by how much parameters
and optimizer state differ in the end; at the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import inspect
import json
import sys
from pathlib import Path

import torch
import torch._dynamo

ITERATIONS = 6
# By iteration and matrix: how much the matrix counts in the loss; None leaves it out, so that it has no gradient.
SCENARIOS = {
    "present": lambda iteration, index: 1.0,
    "None in iteration 3": lambda iteration, index: None if iteration == 3 else 1.0,
    "None for one in iteration 3": lambda iteration, index: None if iteration == 3 and index == 1 else 1.0,
    "zero in iteration 3": lambda iteration, index: 0.0 if iteration == 3 else 1.0,
    "first seen in iteration 3": lambda iteration, index: None if iteration < 3 and index == 1 else 1.0,
}
IMPLEMENTATIONS = {
    "for-loop": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
    "capturable": {"capturable": True},
}
# Rounding stays below 1e-6 for values around 1; one lost update is about as large as the learning rate, 1e-2.
TOLERANCE = 1e-5


def optimizers():
    """Every optimizer class, in the order of names."""
    classes = [value for value in vars(torch.optim).values() if inspect.isclass(value)]
    own = [each for each in classes if issubclass(each, torch.optim.Optimizer) and each is not torch.optim.Optimizer]
    return sorted(set(own), key=lambda each: each.__name__)


def implementations(optimizer):
    """The keyword arguments by which an optimizer's implementation is chosen."""
    known = inspect.signature(optimizer).parameters
    found = {name: chosen for name, chosen in IMPLEMENTATIONS.items() if set(chosen) <= set(known)}
    return found or {"for-loop": {}}


def train(optimizer_class, chosen, scenario, config, device, compiled):
    """Parameters and optimizer state after the last iteration, by name."""
    torch.manual_seed(config["seed"])
    parameters = [torch.nn.Parameter(torch.randn(2, 3, device=device)) for _ in range(3)]
    targets = [torch.randn(2, 3, device=device) for _ in range(3)]
    optimizer = optimizer_class(parameters, lr=config["learning_rate"], **chosen)
    weights = []

    def closure():
        optimizer.zero_grad()
        return backward(parameters, targets, weights, sparse=optimizer_class is torch.optim.SparseAdam)

    def update():
        # LBFGS alone asks for loss and gradients as often as it likes.
        optimizer.step(torch.enable_grad()(closure) if optimizer_class is torch.optim.LBFGS else None)

    step = update
    if compiled:
        torch._dynamo.reset()
        step = torch._dynamo.optimize("eager")(update)
    for iteration in range(1, ITERATIONS + 1):
        weights[:] = [SCENARIOS[scenario](iteration, index) for index in range(3)]
        closure()
        step()
    return values(optimizer, parameters)


def backward(parameters, targets, weights, sparse):
    """Squared distance from the targets, and its gradients."""
    terms = zip(parameters, targets, weights, strict=True)
    used = [(p, weight * (p - target).square().sum()) for p, target, weight in terms if weight is not None]
    loss = sum(term for _, term in used)
    if used:
        loss.backward()
    for parameter in [parameter for parameter, _ in used if sparse]:
        parameter.grad = parameter.grad.to_sparse(1)
    return loss


def values(optimizer, parameters):
    found = {"parameters": torch.cat([parameter.detach().flatten() for parameter in parameters])}
    for index, parameter in enumerate(parameters):
        for entry, value in optimizer.state.get(parameter, {}).items():
            found[f"{entry} of {index}"] = value
    return found


def distance(one, other):
    """The largest difference of two values; None where one of them is absent or they are of different kinds."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        distances = [distance(a, b) for a, b in zip(one, other, strict=True)]
        return None if None in distances else max(distances, default=0.0)
    if one is None or other is None:
        return 0.0 if one is other else None
    one, other = (torch.as_tensor(value).detach().to("cpu", torch.double) for value in (one, other))
    if one.shape != other.shape or not torch.equal(one.isnan(), other.isnan()):
        return None
    return (one - other).nan_to_num().abs().max().item()


def first_line(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:120]


def compare(optimizer_class, chosen, scenario, config, device):
    """What became of one combination: outcome, differences, and the error if there was one."""
    nothing = {"parameters": None, "state": None, "entries": [], "error": ""}
    try:
        eager = train(optimizer_class, chosen, scenario, config, device, compiled=False)
    except Exception as error:
        return nothing | {"outcome": "not offered", "error": first_line(error)}
    try:
        compiled = train(optimizer_class, chosen, scenario, config, device, compiled=True)
    except Exception as error:
        return nothing | {"outcome": "error", "error": first_line(error)}
    far = {name: distance(eager.get(name), compiled.get(name)) for name in eager.keys() | compiled.keys()}
    off = {name.split(" of ")[0] for name, value in far.items() if value is None or value > TOLERANCE}
    parameters = far.pop("parameters")
    return nothing | {
        "outcome": "parameters differ" if "parameters" in off else "state differs" if off else "same",
        "parameters": parameters,
        "state": max((value for value in far.values() if value is not None), default=0.0),
        "entries": sorted(off - {"parameters"}),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"

    records = []
    for optimizer_class in optimizers():
        for implementation, chosen in implementations(optimizer_class).items():
            for scenario in SCENARIOS:
                record = {
                    "combination": len(records) + 1,
                    "optimizer": optimizer_class.__name__,
                    "implementation": implementation,
                    "scenario": scenario,
                    **compare(optimizer_class, chosen, scenario, config, device),
                }
                print(json.dumps(record), flush=True)
                records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
