"""Made visits to a shop: which items somebody looks at, one after the other."""

import torch

LONGEST = 5
LIKELY = [0.5, 0.25, 0.1]


def shop(items, seed):
    """How probable each item is after each other one: three are likely, any is possible."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.full((items, items), 0.1 / items)
    for row in weights:
        row[torch.randperm(items, generator=generator)[: len(LIKELY)]] += torch.tensor(LIKELY)
    return weights / weights.sum(1, keepdim=True)


def load(count, chances, leave, seed):
    """Visits as lists of two to `LONGEST` items; after any from the second on a visit ends with probability `leave`."""
    generator = torch.Generator().manual_seed(seed)
    visits = []
    for item in torch.randint(len(chances), (count,), generator=generator).tolist():
        visit = [item]
        while len(visit) < 2 or (len(visit) < LONGEST and torch.rand((), generator=generator) >= leave):
            visit.append(int(torch.multinomial(chances[visit[-1]], 1, generator=generator)))
        visits.append(visit)
    return visits
