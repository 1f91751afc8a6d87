"""Fit a Gaussian process to values and derivatives of a wave, by the Matern kernel of GPyTorch.

Every five steps print one JSON object: the loss, the noise that is found, and the root of the mean square error of
values and of derivatives at 500 places. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import gpytorch
import torch
import waves
from gpytorch.kernels import Matern52KernelGrad
from linear_operator import to_linear_operator


class Process(gpytorch.models.ExactGP):
    """A process of values and derivatives, with a constant mean."""

    def __init__(self, places, measured, likelihood):
        super().__init__(places, measured, likelihood)
        self.mean_module = gpytorch.means.ConstantMeanGrad()
        self.covar_module = gpytorch.kernels.ScaleKernel(Matern52KernelGrad())

    def forward(self, places):
        mean, covariance = self.mean_module(places), self.covar_module(places)
        signs = mean.new_tensor([1, -1]).repeat(len(places))
        covariance = to_linear_operator(covariance.to_dense() * signs[:, None] * signs)
        return gpytorch.distributions.MultitaskMultivariateNormal(mean, covariance)


@torch.no_grad()
def evaluate(model, likelihood, places, exact):
    model.eval()
    likelihood.eval()
    errors = (model(places).mean - exact).square().mean(0).sqrt()
    return {"value_error": errors[0].item(), "derivative_error": errors[1].item()}


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    (places, measured), further = waves.load(config["places"], config["noise"], device)
    likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=2)
    model = Process(places, measured, likelihood).to(device)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    records = []
    for step in range(1, config["num_steps"] + 1):
        model.train()
        likelihood.train()
        optimizer.zero_grad()
        loss = -objective(model(places), measured)
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            record = {"step": step, "loss": loss.item(), "noise": likelihood.noise.item()}
            record.update(evaluate(model, likelihood, *further))
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
