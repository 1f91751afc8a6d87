"""Choose one of four arms by one pass with dropout, which is a draw of a network (Thompson sampling); learn by it."""

import experiment
import torch
from torch import nn
from torch.nn import functional

ARMS = 4


class Worth(nn.Module):
    """What each arm is worth in a context, by a network that is drawn anew in each pass."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 64), nn.Linear(64, ARMS)

    def forward(self, context):
        return self.last(functional.dropout(self.first(context).relu(), 0.1))


def main():
    config = experiment.parameters()
    device = config["device"]
    contexts = torch.randn(600, 2, device=device)
    worth = torch.stack([contexts[:, 0], -contexts[:, 0], contexts[:, 1], -contexts[:, 1]], dim=1)
    model = Worth().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records, taken, regret = experiment.Records(), [], 0.0
    for decision in range(1, len(contexts) + 1):
        model.eval()
        with torch.no_grad():
            taken.append(model(contexts[decision - 1]).argmax().item())
        regret += (worth[decision - 1].max() - worth[decision - 1, taken[-1]]).item()
        model.train()
        past = torch.randint(decision, (32,))
        arm = torch.tensor(taken, device=device)[past, None]
        reward = worth[past].gather(1, arm) + 0.1 * torch.randn(32, 1, device=device)
        optimizer.zero_grad()
        functional.mse_loss(model(contexts[past]).gather(1, arm), reward).backward()
        optimizer.step()
        if decision % 50 == 0:
            records.add(decision=decision, loss=regret / 50)
            regret = 0.0
    records.write(config)


if __name__ == "__main__":
    main()
