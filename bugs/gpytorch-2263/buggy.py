"""Fit Gaussian processes with an additive kernel and a prior for its lengthscales, with GPyTorch.

Each process fits one random function, whose lengthscales were drawn from that prior. Every ten steps print one JSON
object, with means over all functions: the loss, the lengthscales of both parts of the kernel, how unlikely further
values are (as a loss), and their squared error. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import functions
import gpytorch
import torch
from gpytorch.kernels import MaternKernel


def additive_kernel(prior):
    first = MaternKernel(ard_num_dims=2, active_dims=[0, 1], lengthscale_prior=prior)
    second = MaternKernel(ard_num_dims=2, active_dims=[2, 3], lengthscale_prior=prior)
    return first + second


class Process(gpytorch.models.ExactGP):
    def __init__(self, points, values, likelihood, prior):
        super().__init__(points, values, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = additive_kernel(prior)

    def forward(self, points):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(points), self.covar_module(points))


@torch.no_grad()
def evaluate(process, points, values):
    process.eval()
    process.likelihood.eval()
    predicted = process.likelihood(process(points))
    error = (values - predicted.mean).square()
    surprise = 0.5 * (error / predicted.variance + predicted.variance.log() + torch.log(torch.tensor(2 * torch.pi)))
    first, second = process.covar_module.kernels
    return {
        "first_lengthscale": first.lengthscale.mean().item(),
        "second_lengthscale": second.lengthscale.mean().item(),
        "validation_loss": surprise.mean().item(),
        "squared_error": error.mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    prior = gpytorch.priors.GammaPrior(config["concentration"], config["rate"])

    processes, further = [], []
    for index in range(config["functions"]):
        seed = 1000 * config["seed"] + index
        fit, rest = functions.draw(config["points"], config["further"], config["noise"], prior, seed)
        points, values = (part.to(device) for part in fit)
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        processes.append(Process(points, values, likelihood, prior).to(device))
        further.append([part.to(device) for part in rest])
    objectives = [gpytorch.mlls.ExactMarginalLogLikelihood(process.likelihood, process) for process in processes]
    weights = [weight for process in processes for weight in process.parameters()]
    optimizer = torch.optim.Adam(weights, lr=config["learning_rate"])

    records = []
    for step in range(1, config["num_steps"] + 1):
        optimizer.zero_grad()
        total = 0.0
        for process, objective in zip(processes, objectives, strict=True):
            process.train()
            process.likelihood.train()
            loss = -objective(process(*process.train_inputs), process.train_targets)
            loss.backward()
            total += loss.item()
        optimizer.step()
        if step % 10 == 0:
            found = [evaluate(process, *rest) for process, rest in zip(processes, further, strict=True)]
            means = {name: sum(one[name] for one in found) / len(found) for name in found[0]}
            record = {"step": step, "loss": total / len(processes), **means}
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
