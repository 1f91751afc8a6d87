"""Fit a Gaussian process to each of many sensors, with GPyTorch and a prior for the noise of their readings.

Every ten steps print one JSON object: the loss, the noise that is found, how likely further readings are (as a loss),
their squared error, and the share of them within the 95 % that the processes predict. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import gpytorch
import sensors
import torch


class Processes(gpytorch.models.ExactGP):
    """A batch of processes with a constant mean and a smooth kernel, each with parameters of its own."""

    def __init__(self, times, values, likelihood):
        super().__init__(times, values, likelihood)
        batch = values.shape[:1]
        self.mean_module = gpytorch.means.ConstantMean(batch_shape=batch)
        kernel = gpytorch.kernels.RBFKernel(batch_shape=batch)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)

    def forward(self, times):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(times), self.covar_module(times))


@torch.no_grad()
def evaluate(model, likelihood, times, values):
    model.eval()
    likelihood.eval()
    predicted = likelihood(model(times))
    mean, variance = predicted.mean, predicted.variance
    error = (values - mean).square()
    surprise = 0.5 * (error / variance + variance.log() + torch.log(torch.tensor(2 * torch.pi)))
    return {
        "validation_loss": surprise.mean().item(),
        "squared_error": error.mean().item(),
        "within_95": (error < 1.96**2 * variance).float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    readings = sensors.load(config["sensors"], config["readings"], config["noise"], config["seed"])
    (times, values), (further_times, further_values) = [tuple(part.to(device) for part in pair) for pair in readings]

    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_prior=gpytorch.priors.LogNormalPrior(config["prior_mean"], config["prior_deviation"]),
        batch_shape=values.shape[:1],
    )
    model = Processes(times, values, likelihood).to(device)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    records = []
    for step in range(1, config["num_steps"] + 1):
        model.train()
        likelihood.train()
        optimizer.zero_grad()
        loss = -objective(model(times), values).sum()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            record = {
                "step": step,
                "loss": loss.item() / len(values),
                "noise": likelihood.noise.mean().item(),
                **evaluate(model, likelihood, further_times, further_values),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
