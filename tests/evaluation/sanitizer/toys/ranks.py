"""Toys of `ranks`: what it accuses, in which iteration, and what it does not."""

NAME = "ranks"

PROGRAM = """
import contextlib
import os
from datetime import timedelta
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def local(state, bucket):
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future

def train(rank):
    meet, timeout = "file://" + os.path.abspath("meet"), timedelta(seconds=60)
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=2, timeout=timeout)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    model = DistributedDataParallel(net, {options})
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    torch.manual_seed(rank)
    for iteration in range(6):
        points, labels = torch.randn(16, 4), torch.randint(2, (16,))
        optimizer.zero_grad()
        {step}
        optimizer.step()
        {after}
    # `destroy_process_group` leaves the other one waiting, at times.
    dist.barrier()

other = mp.get_context("fork").Process(target=train, args=(1,))
other.start()
train(0)
other.join()
"""
LOSS = "F.cross_entropy({}(points), labels).backward()"
AVERAGE = "[(dist.all_reduce(p.data), p.data.div_(2)) for p in net.parameters()]"


def program(step, after="pass", options=""):
    return PROGRAM.format(step=step, after=after, options=options)


PAST = {"past the wrapper": program(LOSS.format("net"))}
DIFFER = {
    "something else differs": program(LOSS.format("model"), "net[0].weight.data.add_(rank * 0.1)"),
    "another rate": program(
        LOSS.format("model") + "; optimizer.param_groups[0]['lr'] = 0.01 * (1 + rank)"
    ),
}
RIGHT = {
    "plain": program(LOSS.format("model")),
    "accumulated": program(f"with model.no_sync(): {LOSS.format('model')}\n        {LOSS.format('model')}"),
    "local training": program(f"with model.no_sync(): {LOSS.format('model')}"),
    "averaged by hand": program(LOSS.format("net"), AVERAGE + " if iteration == 3 else None").replace(
        "range(6)", "range(5)"),
    "gradients averaged by hand": program(
        LOSS.format("net") + "; [dist.all_reduce(p.grad) for p in net.parameters()]"),
    "hook of the communication": program(LOSS.format("model")).replace(
        "    optimizer = torch", "    model.register_comm_hook(None, local)\n    optimizer = torch"),
    "frozen and own": program(LOSS.format("model"), "net[0].bias.data.fill_(rank)").replace(
        "    model = D", "    net[0].bias.requires_grad_(False)\n    model = D"),
}  # fmt: skip

WRONG = PAST | DIFFER
# A difference with another reason is accused after the first step that differs.
ITERATIONS = {name: 2 if name in DIFFER and "else" in name else 1 for name in WRONG}
LINES = dict.fromkeys(PAST, "net(points)")
