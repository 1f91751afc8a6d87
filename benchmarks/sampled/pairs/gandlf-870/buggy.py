import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES, SIZE = 3, 20


class SubjectsDataset(Dataset):
    """Subjects with one image and a value to predict (the class of the lesion texture)."""

    def __init__(self, n):
        xx = torch.arange(SIZE).float()
        self.subjects = []
        for i in range(n):
            label = int(torch.randint(CLASSES, (1,)))
            freq, phase = 0.4 + 0.35 * label, 6.28 * torch.rand(2)
            image = torch.sin(freq * xx + phase[0])[:, None] * torch.sin(freq * xx + phase[1])[None, :]
            image = image + 0.9 * torch.randn(SIZE, SIZE)
            self.subjects.append({"subject_id": f"{i:04d}", "image": image.unsqueeze(0), "value_0": label})

    def __len__(self):
        return len(self.subjects)

    def __getitem__(self, i):
        return self.subjects[i]


class VGGSmall(nn.Module):
    def __init__(self, base=12):
        super().__init__()
        layers, c_in = [], 1
        for c in (base, 2 * base):
            layers += [nn.Conv2d(c_in, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU(), nn.MaxPool2d(2)]
            c_in = c
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(c_in, CLASSES))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def overall_stats(predictions, ground_truth):
    accuracy = (predictions == ground_truth).float().mean().item()
    f1 = []
    for c in range(CLASSES):
        tp = ((predictions == c) & (ground_truth == c)).sum().item()
        denom = (predictions == c).sum().item() + (ground_truth == c).sum().item()
        f1.append(2 * tp / denom if denom else 0.0)
    return {"accuracy": accuracy, "f1": sum(f1) / CLASSES}


def train_network(model, train_dataloader, optimizer, params):
    model.train()
    total_loss = 0.0
    predictions_array = []
    ground_truth_array = torch.tensor([s["value_0"] for s in params["training_data"].subjects])
    for subject in train_dataloader:
        image, label = subject["image"], subject["value_0"]
        output = model(image)
        loss = F.cross_entropy(output, label, weight=params["class_weights"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
        predictions_array.append(output.detach().argmax(1))
    metrics = overall_stats(torch.cat(predictions_array), ground_truth_array)
    return total_loss / len(train_dataloader), metrics


@torch.no_grad()
def validate_network(model, valid_dataloader, params):
    model.eval()
    total_loss, predictions, labels = 0.0, [], []
    for subject in valid_dataloader:
        output = model(subject["image"])
        total_loss += F.cross_entropy(output, subject["value_0"], weight=params["class_weights"]).item()
        predictions.append(output.argmax(1))
        labels.append(subject["value_0"])
    return total_loss / len(valid_dataloader), overall_stats(torch.cat(predictions), torch.cat(labels))


class Logger:
    def __init__(self, kind):
        self.kind = kind

    def write(self, epoch, loss, metrics):
        print(f"{self.kind} epoch {epoch} loss {loss:.4f} " + " ".join(f"{k} {v:.4f}" for k, v in metrics.items()))


def training_loop(training_data, validation_data, params):
    params["training_data"] = training_data
    counts = torch.bincount(torch.tensor([s["value_0"] for s in training_data.subjects]), minlength=CLASSES)
    params["class_weights"] = counts.sum() / (CLASSES * counts.float())
    train_dataloader = DataLoader(training_data, batch_size=params["batch_size"], shuffle=True)
    val_dataloader = DataLoader(validation_data, batch_size=params["batch_size"])
    model = VGGSmall()
    optimizer = torch.optim.Adam(model.parameters(), lr=params["learning_rate"])
    train_logger, valid_logger = Logger("train"), Logger("valid")
    for epoch in range(params["num_epochs"]):
        train_loss, train_metrics = train_network(model, train_dataloader, optimizer, params)
        train_logger.write(epoch, train_loss, train_metrics)
        valid_loss, valid_metrics = validate_network(model, val_dataloader, params)
        valid_logger.write(epoch, valid_loss, valid_metrics)
    return train_loss, train_metrics, valid_loss, valid_metrics


def main():
    torch.manual_seed(int(sys.argv[1]))
    params = {"batch_size": 32, "learning_rate": 2e-3, "num_epochs": 6}
    train_loss, train_m, val_loss, val_m = training_loop(SubjectsDataset(640), SubjectsDataset(160), params)
    print(f"RESULT train_loss={train_loss:.4f} train_acc={train_m['accuracy']:.4f} train_f1={train_m['f1']:.4f} "
          f"val_loss={val_loss:.4f} val_acc={val_m['accuracy']:.4f} val_f1={val_m['f1']:.4f}")


if __name__ == "__main__":
    main()
