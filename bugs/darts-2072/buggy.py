"""Forecast the product of the United States a year ahead, by Darts' NLinearModel, from its past and two covariates.

Every epoch prints one JSON object: the losses in training and in validation. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy
import torch
from darts import TimeSeries
from darts.dataprocessing.transformers import Scaler
from darts.models.forecasting.nlinear import NLinearModel
from pytorch_lightning import Callback
from statsmodels.datasets import macrodata


class Records(Callback):
    """One record an epoch."""

    def __init__(self):
        self.all = []

    def on_validation_end(self, trainer, module):
        self.validation_loss = float(trainer.callback_metrics["val_loss"])

    def on_train_epoch_end(self, trainer, module):
        record = {
            "epoch": trainer.current_epoch + 1,
            "loss": float(trainer.callback_metrics["train_loss"]),
            "validation_loss": self.validation_loss,
        }
        print(json.dumps(record), flush=True)
        self.all.append(record)


def load(columns):
    """Quarterly series, the first one in 1959."""
    table = macrodata.load_pandas().data
    return TimeSeries.from_values(table[columns].to_numpy(numpy.float32), columns=columns)


def scale(series, first, last):
    """The first and the last quarters, in units of the range of the first ones."""
    scaler = Scaler().fit(series[:first])
    return scaler.transform(series[:first]), scaler.transform(series[last:])


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    quarters = config["train_quarters"]
    target = scale(load([config["target"]]), quarters, quarters - config["input_quarters"])
    covariates = scale(load(config["covariates"]), quarters, quarters - config["input_quarters"])
    records = Records()
    model = NLinearModel(
        input_chunk_length=config["input_quarters"],
        output_chunk_length=config["output_quarters"],
        normalize=True,
        n_epochs=config["num_epoch"],
        batch_size=config["batch_size"],
        optimizer_kwargs={"lr": config["learning_rate"]},
        random_state=config["seed"],
        pl_trainer_kwargs={
            "accelerator": "cpu",
            "callbacks": [records],
            "enable_progress_bar": False,
            "enable_model_summary": False,
            "logger": False,
            "num_sanity_val_steps": 0,
        },
    )
    model.fit(
        target[0],
        past_covariates=covariates[0],
        val_series=target[1],
        val_past_covariates=covariates[1],
    )
    Path(config["output"] + ".json").write_text(json.dumps(records.all, indent=1))


if __name__ == "__main__":
    main()
