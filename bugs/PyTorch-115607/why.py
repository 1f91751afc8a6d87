"""Show which guards Dynamo puts on the gradients, for every version of Adam's step that it compiles.

Two parameters; in iteration 2 neither has a gradient, in iteration 4 only the first. The line of an iteration says
which gradients were there, how far each parameter's step counter is, and whether a version was compiled; below it
stand that version's guards on gradients. What is not guarded is taken for granted whenever the version is used again.
"""

import torch
from torch._dynamo import guards

GRADIENTS = {1: (True, True), 2: (False, False), 3: (True, True), 4: (True, False), 5: (True, True)}


def main():
    parameters = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
    optimizer = torch.optim.Adam(parameters)
    compiled = watch()
    step = torch._dynamo.optimize("eager")(optimizer.step)
    print(f"torch {torch.__version__}, Adam, two parameters, step compiled by Dynamo\n")
    for iteration, there in GRADIENTS.items():
        optimizer.zero_grad()
        used = [parameter for parameter, has in zip(parameters, there, strict=True) if has]
        if used:
            sum(parameter.square().sum() for parameter in used).backward()
        compiled.clear()
        step()
        show(iteration, there, [int(optimizer.state[parameter]["step"]) for parameter in parameters], compiled)


def watch():
    """Collect, for every version compiled from now on, its guards on gradients as (what, kind)."""
    versions = []
    make = guards.CheckFunctionManager.__init__

    def make_and_note(self, *arguments, **options):
        make(self, *arguments, **options)
        graph = next(argument for argument in arguments if hasattr(argument, "guards"))
        versions.append(sorted({(name(guard), kind(guard)) for guard in graph.guards}))

    guards.CheckFunctionManager.__init__ = make_and_note
    return versions


def name(guard):
    """What the guard is about; a method up to some release, an attribute from then on."""
    found = guard.originating_source.name
    return found() if callable(found) else found


def kind(guard):
    """Which check the guard makes, e.g. TENSOR_MATCH."""
    return getattr(guard.create_fn, "func", guard.create_fn).__name__


def show(iteration, there, steps, compiled):
    gradients = ", ".join("present" if has else "None" for has in there)
    optimizers = [version for version in compiled if any("param_groups" in what for what, _ in version)]
    said = "compiled a version" if optimizers else "no version compiled"
    print(f"iteration {iteration}: gradients {gradients}; step counters {steps}; {said}")
    for version in optimizers:
        of_gradients = [f"{what}: {kind}" for what, kind in version if what.endswith(".grad")]
        for line in of_gradients or ["no guard on any gradient"]:
            print(f"    {line}")


if __name__ == "__main__":
    main()
