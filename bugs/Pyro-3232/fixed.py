"""Fit a Bayesian regression by variational inference in Pyro, with a guide of full covariance.

Every record is one JSON object: the mean loss of the steps since the last one, and, of the intervals that should hold
90 percent of what the guide draws for a weight, their mean width, the least share of draws that they hold, and how many
of them leave out 0. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is
by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import diabetes
import pyro
import torch
from pyro import distributions
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoMultivariateNormal


def model(measurements, progress):
    size = measurements.shape[1]
    scale = torch.ones(size, device=measurements.device)
    weights = pyro.sample("weights", distributions.Normal(0 * scale, scale).to_event(1))
    noise = pyro.sample("noise", distributions.HalfNormal(scale[0]))
    with pyro.plate("patients", len(measurements)):
        pyro.sample("progress", distributions.Normal(measurements @ weights, noise), obs=progress)


def intervals_of(guide):
    posterior = guide.get_posterior()
    latent = distributions.Normal(posterior.mean, posterior.stddev)
    return latent.icdf(latent.mean.new_tensor([[0.05], [0.95]]))[:, :-1]


@torch.no_grad()
def look(guide, measurements, progress, draws):
    low, high = intervals_of(guide)
    weights = torch.stack([guide(measurements, progress)["weights"] for _ in range(draws)])
    inside = ((weights > low) & (weights < high)).float().mean(0)
    return {
        "width": (high - low).mean().item(),
        "covered": inside.min().item(),
        "sure": ((low > 0) | (high < 0)).sum().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    pyro.set_rng_seed(config["seed"])
    data = diabetes.load(device)
    guide = AutoMultivariateNormal(model)
    inference = SVI(model, guide, pyro.optim.Adam({"lr": config["learning_rate"]}), Trace_ELBO())
    records = []
    for step in range(config["every"], config["steps"] + 1, config["every"]):
        loss = sum(inference.step(*data) for _ in range(config["every"])) / config["every"]
        record = {"step": step, "loss": loss, **look(guide, *data, config["draws"])}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
