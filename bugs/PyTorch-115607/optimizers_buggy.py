"""Step every optimizer of torch.optim, compiled, under five kinds of gradients.

Three small matrices are trained for six iterations. What enters the loss decides which gradients there are: a matrix
that is left out has none. For every optimizer, implementation and scenario one JSON object tells the last loss, or the
error; at the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import inspect
import json
import sys
from pathlib import Path

import torch
import torch._dynamo

ITERATIONS = 6
# Their step counter is an integer, which is counted outside of the compiled code.
LEFT_OUT = {"Adadelta", "RMSprop", "Rprop"}
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


def optimizers():
    """Every optimizer class but those that are left out, in the order of names."""
    classes = [value for value in vars(torch.optim).values() if inspect.isclass(value)]
    own = [each for each in classes if issubclass(each, torch.optim.Optimizer) and each is not torch.optim.Optimizer]
    return sorted({each for each in own if each.__name__ not in LEFT_OUT}, key=lambda each: each.__name__)


def implementations(optimizer):
    """The keyword arguments by which an optimizer's implementation is chosen."""
    known = inspect.signature(optimizer).parameters
    found = {name: chosen for name, chosen in IMPLEMENTATIONS.items() if set(chosen) <= set(known)}
    return found or {"for-loop": {}}


def train(optimizer_class, chosen, scenario, config, device):
    """The optimizer after the last iteration, and the loss of that iteration."""
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

    torch._dynamo.reset()
    step = torch._dynamo.optimize("eager")(update)
    for iteration in range(1, ITERATIONS + 1):
        weights[:] = [SCENARIOS[scenario](iteration, index) for index in range(3)]
        loss = closure()
        step()
    return optimizer, loss.item()


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


def first_line(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:120]


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
                optimizer, loss, error = None, None, ""
                try:
                    optimizer, loss = train(optimizer_class, chosen, scenario, config, device)
                except Exception as problem:
                    error = first_line(problem)
                record = {
                    "combination": len(records) + 1,
                    "optimizer": optimizer_class.__name__,
                    "implementation": implementation,
                    "scenario": scenario,
                    "loss": loss,
                    "error": error,
                }
                print(json.dumps(record), flush=True)
                records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
