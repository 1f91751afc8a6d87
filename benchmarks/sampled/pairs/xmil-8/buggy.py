import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

FEAT, CLASSES, BAG = 24, 4, 20


class FourBags(Dataset):
    """Bags of digit-like features: label 1 if digit 8 occurs, 2 if digit 9 occurs, 3 if both, else 0."""

    def __init__(self, n, centres):
        self.bags, self.labels = [], []
        for _ in range(n):
            label = int(torch.randint(CLASSES, (1,)))
            digits = torch.randint(0, 8, (BAG,))
            spots = torch.randperm(BAG)
            if label in (1, 3):
                digits[spots[:2]] = 8
            if label in (2, 3):
                digits[spots[2:4]] = 9
            self.bags.append(centres[digits] + 1.0 * torch.randn(BAG, FEAT))
            self.labels.append(label)

    def __len__(self):
        return len(self.bags)

    def __getitem__(self, i):
        return {"bag": self.bags[i], "label": self.labels[i]}


class AttentionMIL(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(FEAT, hidden), nn.ReLU(), nn.Dropout(0.2))
        self.att_v, self.att_u = nn.Linear(hidden, 32), nn.Linear(hidden, 32)
        self.att_w = nn.Linear(32, 1)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, bag):
        h = self.features(bag)
        a = self.att_w(torch.tanh(self.att_v(h)) * torch.sigmoid(self.att_u(h))).softmax(1)
        return self.head((a * h).sum(1))


class Classifier:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-4)
        self.criterion = nn.CrossEntropyLoss()

    def training_step(self, batch):
        self.model.train()
        loss = self.criterion(self.model(batch["bag"]), batch["label"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validation_step(self, batch, softmax=True):
        self.model.eval()
        preds = self.model(batch["bag"])
        loss = self.criterion(preds, batch["label"]).item()
        if softmax:
            preds = torch.softmax(preds, dim=-1)
        return preds, batch["label"], loss


def binary_auroc(scores, positive):
    pos, neg = scores[positive], scores[~positive]
    diff = pos[:, None] - neg[None, :]
    return ((diff > 0).float() + 0.5 * (diff == 0).float()).mean().item()


def multiclass_auroc(probs, labels):
    return sum(binary_auroc(probs[:, c], labels == c) for c in range(CLASSES)) / CLASSES


def collect(classifier, loader):
    preds, labels, losses = [], [], []
    for batch in loader:
        p, y, loss = classifier.validation_step(batch)
        preds.append(p)
        labels.append(y)
        losses.append(loss * len(y))
    probs = torch.softmax(torch.cat(preds), dim=-1)
    return probs, torch.cat(labels), sum(losses) / len(loader.dataset)


def metrics(probs, labels):
    onehot = F.one_hot(labels, CLASSES).float()
    return {"auroc": multiclass_auroc(probs, labels),
            "acc": (probs.argmax(1) == labels).float().mean().item(),
            "brier": ((probs - onehot) ** 2).sum(1).mean().item()}


def train_model(classifier, train_loader, val_loader, n_epochs, patience=6):
    best, best_state, waited = -1.0, None, 0
    for epoch in range(n_epochs):
        train_loss = sum(classifier.training_step(b) for b in train_loader) / len(train_loader)
        probs, labels, val_loss = collect(classifier, val_loader)
        scores = metrics(probs, labels)
        print(f"epoch {epoch} train {train_loss:.4f} val {val_loss:.4f} " +
              " ".join(f"{k} {v:.4f}" for k, v in scores.items()))
        waited += 1
        if scores["auroc"] > best:
            best, best_state, waited = scores["auroc"], copy.deepcopy(classifier.model.state_dict()), 0
        if waited >= patience:
            break
    classifier.model.load_state_dict(best_state)
    return best


def main():
    torch.manual_seed(int(sys.argv[1]))
    centres = torch.randn(10, FEAT)
    train_loader = DataLoader(FourBags(600, centres), batch_size=16, shuffle=True)
    val_loader = DataLoader(FourBags(150, centres), batch_size=50)
    test_loader = DataLoader(FourBags(300, centres), batch_size=50)
    classifier = Classifier(AttentionMIL(), lr=1e-3)
    best = train_model(classifier, train_loader, val_loader, n_epochs=25)
    probs, labels, _ = collect(classifier, test_loader)
    scores = metrics(probs, labels)
    print(f"RESULT val_auroc={best:.4f} " + " ".join(f"test_{k}={v:.4f}" for k, v in scores.items()))


if __name__ == "__main__":
    main()
