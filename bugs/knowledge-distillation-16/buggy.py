"""Distil a network for handwritten digits into one with a twelfth of its weights.

The large network, the teacher, is trained on labelled images. The small one, the student, learns from the labels and
from the probabilities that the teacher gives to the ten digits. Each epoch of the student prints one JSON object: its
training loss, its accuracy and its loss on held-out images, and how often it gives the teacher's answer there. At the
end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy, kl_div, log_softmax, softmax
from torch.utils.data import DataLoader, TensorDataset


def convolutional_network(channels, hidden):
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1),
        nn.BatchNorm2d(2 * channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * channels, hidden),
        nn.ReLU(),
        nn.Linear(hidden, 10),
    )


def load(training_images, device):
    """Return (images, labels) to train on, and the held-out ones. Each time the digits are split in the same way."""
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    parts = order[:training_images], order[training_images:]
    return tuple((images[part].to(device), labels[part].to(device)) for part in parts)


def train_teacher(teacher, loader, learning_rate, epochs):
    optimizer = torch.optim.Adam(teacher.parameters(), lr=learning_rate)
    teacher.train()
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            cross_entropy(teacher(images), labels).backward()
            optimizer.step()


def distillation_loss(outputs, teacher_outputs, labels, temperature, alpha):
    probabilities = softmax(teacher_outputs / temperature, dim=1)
    soft = kl_div(log_softmax(outputs / temperature, dim=1), probabilities, reduction="batchmean")
    return alpha * temperature**2 * soft + (1 - alpha) * cross_entropy(outputs, labels)


def distil(teacher, student, loader, config):
    """Train the student, and yield its mean loss after each epoch."""
    optimizer = torch.optim.Adam(student.parameters(), lr=config["learning_rate"])
    teacher.eval()
    with torch.no_grad():
        teacher_outputs = [teacher(images) for images, _ in loader]
    for _ in range(config["num_epoch"]):
        student.train()
        losses = []
        for (images, labels), answers in zip(loader, teacher_outputs, strict=True):
            loss = distillation_loss(student(images), answers, labels, config["temperature"], config["alpha"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        yield sum(losses) / len(losses)


@torch.no_grad()
def validate(teacher, student, images, labels):
    """The student's accuracy and loss, and how often it gives the teacher's answer."""
    teacher.eval()
    student.eval()
    outputs = student(images)
    answers = outputs.argmax(dim=1)
    accuracy = (answers == labels).float().mean().item()
    agreement = (answers == teacher(images).argmax(dim=1)).float().mean().item()
    return accuracy, cross_entropy(outputs, labels).item(), agreement


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    training, validation = load(config["training_images"], device)
    loader = DataLoader(TensorDataset(*training), batch_size=config["batch_size"], shuffle=True)
    teacher = convolutional_network(config["teacher_channels"], config["teacher_hidden"]).to(device)
    student = convolutional_network(config["student_channels"], config["student_hidden"]).to(device)
    train_teacher(teacher, loader, config["learning_rate"], config["teacher_epochs"])
    teacher_accuracy, _, _ = validate(teacher, teacher, *validation)
    print(f"The teacher's accuracy is {teacher_accuracy:.3f}.", file=sys.stderr)

    records = []
    for epoch, loss in enumerate(distil(teacher, student, loader, config), 1):
        accuracy, validation_loss, agreement = validate(teacher, student, *validation)
        record = {
            "epoch": epoch,
            "loss": loss,
            "accuracy": accuracy,
            "validation_loss": validation_loss,
            "agreement": agreement,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
