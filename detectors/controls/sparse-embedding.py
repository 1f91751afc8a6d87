"""Learn the parity of numbers from an embedding with sparse gradients: a step touches the rows of its batch only."""

import experiment
import torch
from torch import nn

NUMBERS = 50


def main():
    config = experiment.parameters()
    embedding = nn.Embedding(NUMBERS, 8, sparse=True).to(config["device"])
    output = nn.Linear(8, 2).to(config["device"])
    sparse = torch.optim.SparseAdam(embedding.parameters(), lr=0.02)
    dense = torch.optim.Adam(output.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for iteration in range(1, 151):
        numbers = torch.randint(NUMBERS, (16,), device=config["device"])
        loss = criterion(output(embedding(numbers)), numbers % 2)
        for optimizer in (sparse, dense):
            optimizer.zero_grad()
        loss.backward()
        for optimizer in (sparse, dense):
            optimizer.step()
        records.add(iteration=iteration, loss=loss.item())
    records.write(config)


if __name__ == "__main__":
    main()
