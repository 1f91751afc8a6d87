"""Of `uneven-ranks`: what it accuses, and what it does not."""

NAME = "uneven-ranks"
PROGRAM = """
import os
from datetime import timedelta
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def train(rank):
    meet, timeout = "file://" + os.path.abspath("meet"), timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=2, timeout=timeout)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for step in range(8):
        x, y = torch.randn(40, 4), torch.randint(3, (40,))
        size = {size}
        y[size:] = -100
        count = torch.tensor(float(size))
        dist.all_reduce(count)
        optimizer.zero_grad()
        loss = {loss}
        loss.backward()
        optimizer.step()
    # `destroy_process_group` leaves the other one waiting, at times.
    dist.barrier()

other = mp.get_context("fork").Process(target=train, args=(1,))
other.start()
train(0)
other.join()
"""
MEAN = "F.cross_entropy(model(x), y)"


def program(loss=MEAN, size="10 + 20 * ((step + rank) % 2)"):
    return PROGRAM.format(loss=loss, size=size)


WRONG = {
    "means": program(),
    "a module": program("nn.CrossEntropyLoss()(model(x), y)"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
LINES = dict.fromkeys(WRONG, "loss = ")
RIGHT = {
    "divided by all": program(f"{MEAN} * size * 2 / count"),
    "sums": program("F.cross_entropy(model(x), y, reduction='sum') * 2 / count"),
    "equal": program(size="20"),
    "a little": program(size="20 + 4 * ((step + rank) % 2)"),
    "one rank has less": program(size="10 + 20 * rank"),
    "nothing is left out": program("F.cross_entropy(model(x[:size]), y[:size])"),
}
