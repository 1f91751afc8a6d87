import copy
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class CNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class VanillaTrainer:
    def __init__(self, model, loss_fn, train_dataset, train_configs):
        self.model, self.loss_fn, self.cfg = model, loss_fn, train_configs
        self.train_dataloader = DataLoader(train_dataset, batch_size=train_configs["train_batch_size"], shuffle=True)

    def load_parameters(self, params):
        self.model.load_state_dict(params)

    def get_parameters(self):
        return copy.deepcopy(self.model.state_dict())

    def train(self):
        self.model.train()
        optimizer = torch.optim.SGD(self.model.parameters(), **self.cfg["optim_args"])
        for _ in range(self.cfg["num_local_epochs"]):
            total = 0.0
            for data, target in self.train_dataloader:
                total += self._train_batch(optimizer, data, target)
        return total / len(self.train_dataloader)

    def _train_batch(self, optimizer, data, target):
        optimizer.zero_grad()
        output = self.model(data)
        loss = self.loss_fn(output, target)
        loss.backward()
        optimizer.step()
        if self.cfg.get("clip_grad", False):
            torch.nn.utils.clip_grad_norm_(
                self.model.parameters(), self.cfg["clip_value"], norm_type=self.cfg["clip_norm"])
        return loss.item()


class FedAvgAggregator:
    def __init__(self, model, weights):
        self.params = copy.deepcopy(model.state_dict())
        self.weights = weights

    def aggregate(self, local_params):
        for name in self.params:
            self.params[name] = sum(w * p[name] for w, p in zip(self.weights, local_params))
        return self.params


def make_images(protos, labels):
    shift = torch.randint(-1, 2, (len(labels), 2))
    imgs = torch.stack([torch.roll(protos[y], tuple(s.tolist()), (1, 2)) for y, s in zip(labels, shift)])
    return imgs + 0.8 * torch.randn_like(imgs)


def partition(images, labels, num_clients, num_classes):
    props = torch.distributions.Dirichlet(torch.full((num_clients,), 0.5)).sample((num_classes,))
    owner = torch.tensor([torch.multinomial(props[y], 1).item() for y in labels])
    return [TensorDataset(images[owner == c], labels[owner == c]) for c in range(num_clients)]


@torch.no_grad()
def evaluate(model, dataset):
    model.eval()
    correct, loss = 0, 0.0
    for x, y in DataLoader(dataset, batch_size=128):
        out = model(x)
        loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
        correct += (out.argmax(1) == y).sum().item()
    return loss / len(dataset), correct / len(dataset)


def main():
    torch.manual_seed(int(sys.argv[1]))
    num_classes, num_clients = 6, 4
    protos = torch.randn(num_classes, 1, 12, 12)
    y_train, y_test = torch.randint(num_classes, (1200,)), torch.randint(num_classes, (600,))
    clients = partition(make_images(protos, y_train), y_train, num_clients, num_classes)
    test_set = TensorDataset(make_images(protos, y_test), y_test)
    configs = {"train_batch_size": 32, "num_local_epochs": 2, "clip_grad": True, "clip_value": 1.0, "clip_norm": 2,
               "optim_args": {"lr": 0.05, "momentum": 0.9}}
    global_model = CNN(num_classes)
    trainers = [VanillaTrainer(copy.deepcopy(global_model), nn.CrossEntropyLoss(), ds, configs) for ds in clients]
    sizes = torch.tensor([float(len(ds)) for ds in clients])
    server = FedAvgAggregator(global_model, (sizes / sizes.sum()).tolist())
    for rnd in range(5):
        local = []
        for trainer in trainers:
            trainer.load_parameters(server.params)
            train_loss = trainer.train()
            local.append(trainer.get_parameters())
        global_model.load_state_dict(server.aggregate(local))
        loss, acc = evaluate(global_model, test_set)
        print(f"round {rnd} last client loss {train_loss:.4f} test loss {loss:.4f} acc {acc:.4f}")
    print(f"RESULT test_loss={loss:.4f} test_acc={acc:.4f}")


if __name__ == "__main__":
    main()
