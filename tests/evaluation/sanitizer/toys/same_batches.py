"""Toys of `same-batches`: what it accuses, in which iteration, and what it does not."""

NAME = "same-batches"

PROGRAM = """
import numpy as np
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler

class Noise(Dataset):
    def __init__(self):
        # `copied-generator` does not look into dictionaries.
        self.generators = dict(noise=np.random.default_rng(0))

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.from_numpy(self.generators['noise'].standard_normal(4)).float(), index % 2

class Drawn(Noise):
    def __getitem__(self, index):
        return (points[index], torch.from_numpy(np.random.rand(4)).float()), index % 2

class Series(Noise):
    # Worker k reads series k, in the order of time.
    def __getitem__(self, index):
        return (points[index], torch.arange(4.0) + index // 2), index % 2

class Stream(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        worker = get_worker_info()
        first, every = (worker.id, 2) if self.shards else (0, 1)
        return iter([(points[i], labels[i]) for i in range(first, 64, every)])

class Echo:
    def __iter__(self):
        for batch in torch.randperm(64).split(8):
            yield from [batch.tolist()] * 2

    def __len__(self):
        return 16

class Resampled(DistributedSampler):
    def __iter__(self):
        self.round = getattr(self, "round", 0) + 1
        return iter(torch.randperm(64, generator=torch.Generator().manual_seed(self.round)).tolist())

def seed(worker):
    get_worker_info().dataset.generators["noise"] = np.random.default_rng(worker)

points, labels = torch.randn(64, 4), torch.randint(2, (64,))
whole = TensorDataset(points, labels)
zeros = TensorDataset(torch.zeros(64, 4), labels)
order = torch.Generator()
# Seeds of orders that begin with the same two samples.
seeds = [seed for seed in range(2000) if torch.randperm(20, generator=order.manual_seed(seed))[:2].tolist() == [3, 7]]
few = TensorDataset(torch.randn(20, 32), torch.randint(2, (20,)))
wide, narrow = nn.Linear(32, 2), nn.Linear(4, 2)
loader = {loader}
model = wide if loader.dataset is few else narrow
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    {begin}
    for inputs, targets in loader:
        optimizer.zero_grad()
        inputs = sum(inputs) if isinstance(inputs, list) else inputs
        F.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
"""
SAMPLER = "DataLoader(whole, 8, sampler=DistributedSampler(whole, num_replicas=2, rank=0))"
SINGLE = "DataLoader(few, 1, sampler=RandomSampler(few, generator=order))"


def program(loader, begin="pass"):
    return PROGRAM.format(loader=loader, begin=begin)


WORKERS = {
    "one seed": program(
        "DataLoader(Drawn(), 8, num_workers=2, worker_init_fn=lambda _: np.random.seed(0), shuffle=True)"
    ),
    "copied generator": program("DataLoader(Noise(), 8, num_workers=2)"),
    "whole stream": program("DataLoader(Stream(False), 8, num_workers=2)"),
}
ORDERS = {
    "epoch not set": program(SAMPLER),
    "single samples": program(SINGLE, "order.manual_seed(seeds[0])"),
    "seeded again": program("DataLoader(whole, 8, shuffle=True)", "torch.manual_seed(1)"),
}
RIGHT = {
    "the same times": program(
        "DataLoader(Series(), 8, num_workers=2, sampler=[i for b in range(4) for w in range(2) "
        "for i in range(16 * b + w, 16 * b + 16, 2)])"),
    "a seed for each worker": program(
        "DataLoader(Drawn(), 8, num_workers=2, worker_init_fn=lambda worker: np.random.seed(worker), shuffle=True)"),
    "seeds of torch": program("DataLoader(Drawn(), 8, num_workers=2, shuffle=True)"),
    "each batch twice": program("DataLoader(whole, batch_sampler=Echo(), num_workers=2)"),
    "each batch of the data "
    "twice": program("DataLoader(TensorDataset(points.view(8, 8, 4).repeat_interleave(2, 0), "
                                            "labels.view(8, 8).repeat_interleave(2, 0)), None, num_workers=2)"),
    "two samples in the same order": program(SINGLE, "order.manual_seed(seeds[epoch])"),
    "another seed": program(SAMPLER, "loader.sampler.seed = epoch"),
    "a sampler of one's own": program(SAMPLER.replace("=DistributedSampler", "=Resampled")),
    "plain": program("DataLoader(whole, 8, shuffle=True, num_workers=2)"),
    "one process": program("DataLoader(Noise(), 8)"),
    "one worker": program("DataLoader(Noise(), 8, num_workers=1)"),
    "own generators": program("DataLoader(Noise(), 8, num_workers=2, worker_init_fn=seed)"),
    "shards": program("DataLoader(Stream(True), 8, num_workers=2)"),
    "all samples the same": program("DataLoader(zeros, 8, num_workers=2)"),
    "epoch set": program(SAMPLER, "loader.sampler.set_epoch(epoch)"),
    "in order": program("DataLoader(whole, 8)"),
    "with replacement": program("DataLoader(whole, 1, sampler=RandomSampler(whole, True), num_workers=2)"),
    "another model from the same seed": program(
        "DataLoader(whole, 8, shuffle=True)",
        "torch.manual_seed(1); model = nn.Linear(4, 2); optimizer = "
        "torch.optim.Adam(model.parameters())"),
    "begun anew": program("DataLoader(whole, 8, shuffle=True)",
                          "torch.manual_seed(1); model.load_state_dict(nn.Linear(4, "
                          "2).state_dict())"),
    "a look at one batch": program(SAMPLER, "loader.sampler.set_epoch(epoch); next(iter(loader))"),
    "one batch": program("DataLoader(whole, 64, shuffle=True)", "torch.manual_seed(1)"),
}  # fmt: skip

WRONG = WORKERS | ORDERS
# Of "one seed" it is 2 on one machine, and 3 on others.
ITERATIONS = dict.fromkeys(WRONG.keys() - {"one seed"}, 2) | {
    # The second epoch.
    "epoch not set": 5,
    "seeded again": 9,
    "single samples": 21,
}
