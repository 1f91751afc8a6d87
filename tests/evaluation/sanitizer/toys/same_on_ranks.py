"""Of `same-on-ranks`: what it accuses, and what it does not."""

NAME = "same-on-ranks"
PROGRAM = """
import os
from datetime import timedelta
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def train(rank):
    meet, timeout = "file://" + os.path.abspath("meet"), timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=2, timeout=timeout)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(128, 4), torch.randint(2, (128,)))
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed({seed})
    loader = DataLoader(data, 16, {options})
    for points, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(model({points}), labels).backward()
        optimizer.step()
    # `destroy_process_group` leaves the other one waiting, at times.
    dist.barrier()

other = mp.get_context("{start}").Process(target=train, args=(1,))
other.start()
train(0)
other.join()
"""


def program(options, seed="0", points="points", start="fork"):
    return PROGRAM.format(options=options, seed=seed, points=points, start=start)


SAMPLER = "sampler=DistributedSampler(data)"
WRONG = {
    "no sampler": program("shuffle=True"),
    "all in the same order": program("shuffle=False", "rank"),
    "the same share": program("sampler=DistributedSampler(data, 2, 0)"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = dict.fromkeys(WRONG, "torch.utils.data.distributed.DistributedSampler")
LINES = dict.fromkeys(WRONG, "model(points)")
RIGHT = {
    "a sampler": program(SAMPLER),
    "seeds of their own": program("shuffle=True", "rank"),
    "constant inputs": program("shuffle=True", points="torch.ones_like(points)"),
}
