"""Train a small convolutional network on handwritten digits without labels: DINO, by the parts of Lightly.

Every epoch prints one JSON object: the loss in training, the same loss in validation, and the share of other images
whose nearest neighbour among the training images shows the same digit. At the end all of them go to `<output>.json`.
The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import digits
import torch
from lightly.loss import DINOLoss
from lightly.models.modules import DINOProjectionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum
from lightly.utils.scheduler import cosine_schedule
from torch import nn
from torch.nn import functional

FEATURES = 128


def make_backbone():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, FEATURES),
        nn.ReLU(),
    )


def make_head(config, freeze_last_layer=-1):
    head = DINOProjectionHead(
        FEATURES,
        config["hidden"],
        config["bottleneck"],
        config["outputs"],
        batch_norm=True,
        freeze_last_layer=freeze_last_layer,
    )
    head.layers[4] = nn.BatchNorm1d(config["hidden"])
    return head


class DINO(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.student_backbone = make_backbone()
        self.student_head = make_head(config, freeze_last_layer=1)
        self.teacher_backbone = copy.deepcopy(self.student_backbone)
        self.teacher_head = make_head(config)
        deactivate_requires_grad(self.teacher_backbone)
        deactivate_requires_grad(self.teacher_head)

    def forward(self, images):
        return self.student_head(self.student_backbone(images))

    def forward_teacher(self, images):
        return self.teacher_head(self.teacher_backbone(images))


def view(images, noise):
    """Move each image by at most one pixel, up or down and to a side, and add noise."""
    rows, columns = torch.randint(3, (2, len(images), 1, 1))
    padded = functional.pad(images[:, 0], (1, 1, 1, 1), value=-1.0)
    index = torch.arange(len(images))[:, None, None]
    moved = padded[index, rows + torch.arange(8)[:, None], columns + torch.arange(8)][:, None]
    return moved + noise * torch.randn(moved.shape).to(moved.device)


def dino_loss(model, images, criterion, epoch, noise):
    views = [view(images, noise) for _ in range(2)]
    teacher_out = [model.forward_teacher(each) for each in views]
    student_out = [model(each) for each in views]
    return criterion(teacher_out, student_out, epoch=epoch)


def train_epoch(model, images, optimizer, criterion, epoch, config):
    model.train()
    momentum = cosine_schedule(epoch, config["num_epoch"], 0.996, 1)
    losses = []
    for batch in torch.randperm(len(images)).to(images.device).split(config["batch_size"]):
        update_momentum(model.student_backbone, model.teacher_backbone, m=momentum)
        update_momentum(model.student_head, model.teacher_head, m=momentum)
        loss = dino_loss(model, images[batch], criterion, epoch, config["noise"])
        loss.backward()
        model.student_head.cancel_last_layer_gradients(current_epoch=epoch)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, train, validation, criterion, epoch, noise):
    model.eval()
    images, labels = validation
    loss = dino_loss(model, images, copy.deepcopy(criterion), epoch, noise).item()
    nearest = torch.cdist(model.student_backbone(images), model.student_backbone(train[0])).argmin(1)
    return loss, (train[1][nearest] == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    model = DINO(config).to(device)
    criterion = DINOLoss(output_dim=config["outputs"], warmup_teacher_temp_epochs=config["warmup"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(config["num_epoch"]):
        loss = train_epoch(model, train[0], optimizer, criterion, epoch, config)
        validation_loss, accuracy = evaluate(model, train, validation, criterion, epoch, config["noise"])
        record = {"epoch": epoch + 1, "loss": loss, "validation_loss": validation_loss, "accuracy": accuracy}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
