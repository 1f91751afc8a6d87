import sys

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, Subset


class AdultDataset(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class AdultNet(nn.Module):
    def __init__(self, input_size, hidden_size=64, dropout=0.2):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(input_size, hidden_size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, hidden_size),
            nn.ReLU(),
            nn.Linear(hidden_size, 1),
        )

    def forward(self, x):
        return self.net(x)


def make_population(n, rng):
    age = rng.uniform(18, 75, n)
    hours = np.clip(rng.normal(40, 10, n), 5, 90)
    education = rng.randint(0, 8, n)
    occupation = rng.randint(0, 10, n)
    marital = rng.randint(0, 4, n)
    job_effect = np.random.RandomState(3).normal(0, 1.0, 10)
    score = (-3.2 - ((age - 48) / 15) ** 2 + 0.05 * (hours - 40) + 0.45 * education
             + job_effect[occupation] + 1.2 * (marital == 1))
    income = rng.rand(n) < 1 / (1 + np.exp(-2 * score))
    numeric = np.stack([(age - age.mean()) / age.std(), (hours - hours.mean()) / hours.std()], axis=1)
    onehot = [np.eye(k)[c] for k, c in ((8, education), (10, occupation), (4, marital))]
    x = np.concatenate([numeric] + onehot, axis=1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(income, dtype=torch.float32)


class AdultInputHandler:
    def get_criterion(self):
        return nn.BCEWithLogitsLoss()

    def get_optimizer(self, model):
        return optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def train(self, dataloader, model, criterion, optimizer, epochs):
        for epoch in range(epochs):
            model.train()
            train_loss, train_acc, total = 0.0, 0, 0
            for inputs, labels in dataloader:
                labels = labels.unsqueeze(1)
                optimizer.zero_grad()
                output = model(inputs)
                probs = torch.sigmoid(output)
                loss = criterion(probs, labels)
                loss.backward()
                optimizer.step()
                train_acc += (probs >= 0.5).float().eq(labels).sum().item()
                train_loss += loss.item() * len(labels)
                total += len(labels)
            print(f"epoch {epoch + 1} loss {train_loss / total:.4f} accuracy {train_acc / total:.4f}")
        return {"accuracy": train_acc / total, "loss": train_loss / total}

    def eval(self, dataloader, model):
        model.eval()
        hits, nll, total = 0, 0.0, 0
        with torch.no_grad():
            for inputs, labels in dataloader:
                labels = labels.unsqueeze(1)
                probs = torch.sigmoid(model(inputs))
                nll += nn.functional.binary_cross_entropy(probs, labels, reduction="sum").item()
                hits += (probs >= 0.5).float().eq(labels).sum().item()
                total += len(labels)
        return {"accuracy": hits / total, "nll": nll / total}


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    x, y = make_population(4000, rng)
    population = AdultDataset(x, y)
    order = rng.permutation(len(population)).tolist()
    train_set, test_set = Subset(population, order[:2400]), Subset(population, order[2400:])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    handler = AdultInputHandler()
    model = AdultNet(x.shape[1])
    train_result = handler.train(train_loader, model, handler.get_criterion(), handler.get_optimizer(model), epochs=8)
    test_result = handler.eval(test_loader, model)
    print(f"positive share {y.mean().item():.3f}")
    print(f"RESULT train_loss={train_result['loss']:.4f} train_acc={train_result['accuracy']:.4f} "
          f"test_acc={test_result['accuracy']:.4f} test_nll={test_result['nll']:.4f}")


if __name__ == "__main__":
    main()
