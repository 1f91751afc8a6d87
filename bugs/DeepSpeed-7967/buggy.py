"""Train a small network with DeepSpeed, whose ZeRO stage 2 keeps the optimizer in the memory of the CPU.

A batch is split into micro-batches; their gradients are accumulated for one update. Every epoch prints one JSON object:
the mean loss in training, the mean norm of the gradients that the updates had, and loss and accuracy on other images.
At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import logging
import os
import sys
import tempfile
from pathlib import Path

import digits
import torch
import torch.distributed as dist
from torch import nn

os.environ["DS_ACCELERATOR"] = "cpu"
os.environ["LOCAL_RANK"] = "0"
import deepspeed  # noqa: E402

logging.getLogger("DeepSpeed").handlers[0].setStream(sys.stderr)
# A library for communication over shared memory, which would have to be compiled.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False


def network():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def make_engine(model, config):
    settings = {
        "train_batch_size": config["batch_size"],
        "gradient_accumulation_steps": config["micro_batches"],
        "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}},
        "zero_force_ds_cpu_optimizer": False,
        "gradient_clipping": config["clip"],
    }
    optimizer = torch.optim.Adam(
        model.parameters(),
        lr=config["learning_rate"],
        betas=(config["beta1"], config["beta2"]),
        weight_decay=config["weight_decay"],
    )
    engine, _, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings)
    return engine


def train_epoch(engine, images, labels, criterion, config):
    engine.train()
    micro_batch_size = config["batch_size"] // config["micro_batches"]
    whole_batches = len(images) - len(images) % config["batch_size"]
    losses, norms = [], []
    for micro_batch in torch.randperm(len(images))[:whole_batches].split(micro_batch_size):
        loss = criterion(engine(images[micro_batch]), labels[micro_batch])
        engine.backward(loss)
        updates = engine.is_gradient_accumulation_boundary()
        engine.step()
        losses.append(loss.item())
        if updates:
            norms.append(float(engine.get_global_grad_norm()))
    return sum(losses) / len(losses), sum(norms) / len(norms)


@torch.no_grad()
def evaluate(engine, images, labels, criterion):
    engine.eval()
    outputs = engine(images)
    accuracy = (outputs.argmax(1) == labels).float().mean().item()
    return criterion(outputs, labels).item(), accuracy


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load("cpu")
    criterion = nn.CrossEntropyLoss()
    with tempfile.TemporaryDirectory() as directory:
        rendezvous = Path(directory, "rendezvous").as_uri()
        dist.init_process_group("gloo", init_method=rendezvous, rank=0, world_size=1)
        engine = make_engine(network(), config)

        records = []
        for epoch in range(1, config["num_epoch"] + 1):
            loss, gradient_norm = train_epoch(engine, *train, criterion, config)
            validation_loss, accuracy = evaluate(engine, *validation, criterion)
            record = {
                "epoch": epoch,
                "loss": loss,
                "gradient_norm": gradient_norm,
                "validation_loss": validation_loss,
                "accuracy": accuracy,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
