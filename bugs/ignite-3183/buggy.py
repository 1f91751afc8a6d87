"""Train a small convolutional network on handwritten digits with Ignite, in two sessions.

The first session is interrupted. The second one takes all state from the last checkpoint, and goes on. The learning
rate rises for a while, stays, and falls along a cosine in the last epochs. Every epoch prints one JSON object: its
session, the learning rate of its last iteration, the mean loss of its iterations, and loss and accuracy on other images
after it. At the end all of them go to `<output>.json`, checkpoints are in `<output>-checkpoints`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import (
    Checkpoint,
    ConcatScheduler,
    CosineAnnealingScheduler,
    DiskSaver,
    LinearCyclicalScheduler,
    PiecewiseLinear,
)
from ignite.metrics import Accuracy, Average, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def make_scheduler(optimizer, config, iterations):
    """Warm-up, plateau and decay, each of them so many epochs of so many iterations."""
    rate = config["learning_rate"]
    warmup, plateau, decay = (iterations * config[f"{phase}_epochs"] for phase in ("warmup", "plateau", "decay"))
    phases = [
        LinearCyclicalScheduler(optimizer, "lr", 0.0, rate, 2 * warmup),
        PiecewiseLinear(optimizer, "lr", [(0, rate)]),
        CosineAnnealingScheduler(optimizer, "lr", rate, 0.0, decay),
    ]
    return ConcatScheduler(phases, durations=[warmup, plateau])


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    train, validation = (TensorDataset(*part) for part in digits.load(device))
    train_loader = DataLoader(train, config["batch_size"], shuffle=True)
    validation_loader = DataLoader(validation, len(validation))
    criterion = nn.CrossEntropyLoss()
    saver = DiskSaver(config["output"] + "-checkpoints", require_empty=False)
    num_epoch = sum(config[f"{phase}_epochs"] for phase in ("warmup", "plateau", "decay"))
    records = []

    def session(number, checkpoint=None):
        torch.manual_seed(2 * config["seed"] + number)
        model = network().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=config["momentum"])
        scheduler = make_scheduler(optimizer, config, len(train_loader))
        trainer = create_supervised_trainer(model, optimizer, criterion, device=device)
        trainer.add_event_handler(Events.ITERATION_STARTED, scheduler)
        Average().attach(trainer, "loss")
        metrics = {"validation_loss": Loss(criterion), "validation_accuracy": Accuracy()}
        evaluator = create_supervised_evaluator(model, metrics=metrics, device=device)

        @trainer.on(Events.EPOCH_COMPLETED)
        def report(engine):
            evaluator.run(validation_loader)
            record = {
                "epoch": engine.state.epoch,
                "session": number,
                "learning_rate": optimizer.param_groups[0]["lr"],
                "loss": engine.state.metrics["loss"],
                **evaluator.state.metrics,
            }
            print(json.dumps(record), flush=True)
            records.append(record)

        state = {"trainer": trainer, "model": model, "optimizer": optimizer, "scheduler": scheduler}
        keeper = Checkpoint(state, saver, n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED(every=config["checkpoint_every"]), keeper)
        if checkpoint:
            Checkpoint.load_objects(state, checkpoint)
        else:
            trainer.add_event_handler(Events.EPOCH_COMPLETED(once=config["first_epochs"]), trainer.terminate)
        trainer.run(train_loader, max_epochs=num_epoch)
        return keeper.last_checkpoint

    session(2, session(1))
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
