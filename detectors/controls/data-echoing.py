"""Loading is slow, so that each batch is used twice in a row: a batch sampler names it twice to two workers."""

import experiment
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


class Echoed(BatchSampler):
    """Data echoing (Choi et al. 2019)."""

    def __iter__(self):
        for batch in super().__iter__():
            yield batch
            yield batch

    def __len__(self):
        return 2 * super().__len__()


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, "cpu")
    data = TensorDataset(points, labels)
    batches = Echoed(RandomSampler(data), batch_size=64, drop_last=False)
    loader = DataLoader(data, batch_sampler=batches, num_workers=2)
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 9):
        total = 0.0
        for batch, truth in loader:
            batch, truth = batch.to(config["device"]), truth.to(config["device"])
            optimizer.zero_grad()
            loss = criterion(model(batch), truth)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / (2 * len(data)))
    records.write(config)


if __name__ == "__main__":
    main()
