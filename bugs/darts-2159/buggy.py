"""Forecast the carbon dioxide in the air for three years, with a TiDE network of Darts and reversible normalisation.

Every part of the training prints one JSON object: the losses in training and validation, and how far forecasts are from
the truth in their first, second and third year, in parts per million. At the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import logging
import sys
from pathlib import Path

import air
import torch
from darts.dataprocessing.transformers import Scaler
from darts.metrics import mae
from darts.models import TiDEModel

CHUNK = 12


def build(config, accelerator):
    return TiDEModel(
        input_chunk_length=config["months"],
        output_chunk_length=CHUNK,
        use_reversible_instance_norm=True,
        batch_size=config["batch_size"],
        optimizer_kwargs={"lr": config["learning_rate"]},
        random_state=config["seed"],
        pl_trainer_kwargs={
            "accelerator": accelerator,
            "devices": 1,
            "gradient_clip_val": config["clip"],
            "enable_progress_bar": False,
            "enable_model_summary": False,
        },
    )


def forecast(model, pasts, months):
    return model.predict(n=months, series=pasts)


def judge(model, series, scaler, config):
    """The mean error of each year of a forecast, over forecasts that begin a year after each other."""
    months = CHUNK * config["years"]
    starts = range(config["months"], len(series) - months + 1, CHUNK)
    futures = scaler.inverse_transform(forecast(model, [series[:start] for start in starts], months))
    truth = scaler.inverse_transform(series)
    errors = {}
    for year in range(config["years"]):
        part = slice(CHUNK * year, CHUNK * (year + 1))
        found = [mae(truth, future[part]) for future in futures]
        errors[f"error_year_{year + 1}"] = float(sum(found) / len(found))
    return errors


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    torch.set_num_threads(1)
    train, validation, test = air.load()
    scaler = Scaler(global_fit=True)
    train = scaler.fit_transform(train)
    validation, test = scaler.transform([validation, test])

    model = build(config, "gpu" if device == "cuda" else "cpu")
    records = []
    for part in range(1, config["num_part"] + 1):
        model.fit(train, val_series=validation, epochs=config["epochs"], verbose=False)
        metrics = model.trainer.callback_metrics
        record = {
            "epoch": part * config["epochs"],
            "loss": metrics["train_loss"].item(),
            "validation_loss": metrics["val_loss"].item(),
            **judge(model, test, scaler, config),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
