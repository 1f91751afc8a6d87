import sys

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ImputationDataset(Dataset):
    """Incomplete series with artificially hidden values as imputation targets."""

    def __init__(self, x_ori, missing, hidden):
        self.x_ori = torch.tensor(x_ori, dtype=torch.float32)
        self.observed = torch.tensor(~missing & ~hidden, dtype=torch.float32)
        self.indicating = torch.tensor(hidden & ~missing, dtype=torch.float32)

    def __len__(self):
        return len(self.x_ori)

    def __getitem__(self, i):
        return self.x_ori[i] * self.observed[i], self.observed[i], self.x_ori[i], self.indicating[i]


class BiGRUImputer(nn.Module):
    def __init__(self, n_features, hidden=32, dropout=0.1):
        super().__init__()
        self.rnn = nn.GRU(2 * n_features, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(2 * hidden, n_features)

    def forward(self, x, mask):
        h, _ = self.rnn(torch.cat([x, mask], dim=-1))
        return self.out(self.dropout(h))


def masked_mae(pred, target, mask):
    return ((pred - target).abs() * mask).sum() / (mask.sum() + 1e-9)


class BaseNNImputer:
    def __init__(self, model, epochs=60, patience=8, batch_size=16, lr=1e-2):
        self.model, self.epochs, self.batch_size = model, epochs, batch_size
        self.original_patience = self.patience = patience
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.best_model_dict, self.best_loss, self.best_epoch = None, float("inf"), -1

    def _validate(self, loader):
        self.model.eval()
        losses = []
        with torch.no_grad():
            for x, mask, ori, ind in loader:
                losses.append(masked_mae(self.model(x, mask), ori, ind).item())
        return float(np.mean(losses))

    def _train_model(self, train_loader, val_loader):
        for epoch in range(1, self.epochs + 1):
            self.model.train()
            losses = []
            for x, mask, ori, ind in train_loader:
                self.optimizer.zero_grad()
                pred = self.model(x, mask)
                loss = masked_mae(pred, ori, mask) + masked_mae(pred, ori, ind)
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            val_loss = self._validate(val_loader)
            print(f"epoch {epoch} - training loss {np.mean(losses):.4f}, validation loss {val_loss:.4f}")
            if val_loss < self.best_loss:
                self.best_epoch, self.best_loss = epoch, val_loss
                self.best_model_dict = self.model.state_dict()
                self.patience = self.original_patience
            else:
                self.patience -= 1
                if self.patience == 0:
                    print("early stopping")
                    break

    def fit(self, train_set, val_set):
        train_loader = DataLoader(train_set, batch_size=self.batch_size, shuffle=True)
        val_loader = DataLoader(val_set, batch_size=64)
        self._train_model(train_loader, val_loader)
        self.model.load_state_dict(self.best_model_dict)
        self.model.eval()
        return self._validate(val_loader)

    def predict(self, dataset):
        self.model.eval()
        out = []
        with torch.no_grad():
            for x, mask, _, _ in DataLoader(dataset, batch_size=64):
                out.append(self.model(x, mask))
        return torch.cat(out)


def make_series(n, rng, steps=24, features=4):
    t = np.linspace(0, 1, steps)[None, :, None]
    freq, phase = rng.uniform(1, 3, (n, 1, 1)), rng.uniform(0, 6.28, (n, 1, features))
    x = np.sin(6.28 * freq * t + phase) + 0.15 * rng.randn(n, steps, features)
    x[:, :, 1] += 0.5 * x[:, :, 0]
    missing, hidden = rng.rand(*x.shape) < 0.1, rng.rand(*x.shape) < 0.2
    return ImputationDataset(x, missing, hidden)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    train_set, val_set, test_set = make_series(120, rng), make_series(60, rng), make_series(120, rng)
    imputer = BaseNNImputer(BiGRUImputer(4))
    final_val = imputer.fit(train_set, val_set)
    pred = imputer.predict(test_set)
    test_mae = masked_mae(pred, test_set.x_ori, test_set.indicating).item()
    print(f"RESULT best_epoch={imputer.best_epoch} best_val={imputer.best_loss:.4f} "
          f"val_of_returned={final_val:.4f} test_mae={test_mae:.4f}")


if __name__ == "__main__":
    main()
