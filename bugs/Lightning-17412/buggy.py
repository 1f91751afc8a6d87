"""Train a classifier of handwritten digits with PyTorch Lightning, which first tries learning rates.

What the finder suggests goes to standard error, and is not used. Every epoch prints one JSON object: the mean loss in
training, and the loss and the accuracy in validation. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import folders
import torch
from pytorch_lightning import Callback, LightningModule, Trainer, seed_everything
from pytorch_lightning.callbacks import LearningRateFinder
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader


class Classifier(LightningModule):
    def __init__(self, width, learning_rate):
        super().__init__()
        self.learning_rate = learning_rate
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
        )

    def training_step(self, batch, index):
        images, labels = batch
        loss = functional.cross_entropy(self.layers(images), labels)
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        images, labels = batch
        outputs = self.layers(images)
        self.log("validation_loss", functional.cross_entropy(outputs, labels))
        self.log("accuracy", (outputs.argmax(1) == labels).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)


class Report(Callback):
    def __init__(self):
        self.records = []

    def on_train_epoch_end(self, trainer, model):
        metrics = {name: trainer.callback_metrics[name].item() for name in ("loss", "validation_loss", "accuracy")}
        record = {"epoch": trainer.current_epoch + 1, **metrics}
        print(json.dumps(record), flush=True)
        self.records.append(record)


def make_trainer(accelerator, num_epoch, callbacks):
    return Trainer(
        accelerator=accelerator,
        devices=1,
        max_epochs=num_epoch,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    accelerator = "gpu" if device == "cuda" else "cpu"
    torch.set_num_threads(1)
    seed_everything(config["seed"])
    train, validation = folders.load()
    loaders = (
        DataLoader(train, batch_size=config["batch_size"], shuffle=True),
        DataLoader(validation, batch_size=config["batch_size"]),
    )
    model = Classifier(config["width"], config["learning_rate"])
    report = Report()
    finder = LearningRateFinder(update_attr=False)
    trainer = make_trainer(accelerator, config["num_epoch"], [finder, report])
    trainer.fit(model, *loaders)
    print(f"suggested learning rate: {finder.optimal_lr.suggestion()}", file=sys.stderr)
    Path(config["output"] + ".json").write_text(json.dumps(report.records, indent=1))


if __name__ == "__main__":
    main()
