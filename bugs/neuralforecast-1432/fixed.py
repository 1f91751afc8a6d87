"""Forecast the passengers of airlines for a year, with NHITS of neuralforecast, and look how good each forecast was.

For each of several years a network is trained with all months before it. The last twelve of them validate: training
ends when the loss there has not fallen twice. Every year prints one JSON object: how many steps were trained, the loss
in validation at the end, and how far the forecast is from the year: the mean loss of its quantiles, and the mean error
of its median, in thousands of passengers. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from neuralforecast import NeuralForecast
from neuralforecast.losses.pytorch import DistributionLoss
from neuralforecast.models import NHITS
from neuralforecast.utils import AirPassengersDF

LEVELS = [50, 80]
QUANTILES = {"lo-80": 0.1, "lo-50": 0.25, "median": 0.5, "hi-50": 0.75, "hi-80": 0.9}


def build(config):
    return NHITS(
        h=12,
        input_size=24,
        loss=DistributionLoss("Normal", level=LEVELS),
        max_steps=config["steps"],
        early_stop_patience_steps=config["patience"],
        val_check_steps=config["interval"],
        windows_batch_size=config["windows"],
        dropout_prob_theta=config["dropout"],
        scaler_type="robust",
        random_seed=config["seed"],
        accelerator=config["device"],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def judge(forecast, months):
    """The mean loss of all quantiles, and the mean error of the median."""
    truth = months["y"].to_numpy()
    losses = []
    for name, quantile in QUANTILES.items():
        gap = truth - forecast[f"NHITS-{name}"].to_numpy()
        losses.append(float(abs(gap * (quantile - (gap < 0))).mean()))
    error = float(abs(truth - forecast["NHITS-median"].to_numpy()).mean())
    return {"test_loss": sum(losses) / len(losses), "test_error": error}


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)

    records = []
    for year in range(config["first_year"], config["last_year"] + 1):
        years = AirPassengersDF["ds"].dt.year
        forecaster = NeuralForecast(models=[build(config)], freq="ME")
        forecaster.fit(AirPassengersDF[years < year], val_size=12)
        step, loss = forecaster.models[0].valid_trajectories[-1]
        found = judge(forecaster.predict(), AirPassengersDF[years == year])
        record = {"year": year, "steps": step, "validation_loss": float(loss), **found}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
