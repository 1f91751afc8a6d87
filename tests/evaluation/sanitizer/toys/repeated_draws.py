"""Of `repeated-draws`: what it accuses, in which iteration, and what it does not."""

NAME = "repeated-draws"
PROGRAM = """
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        {item}
        return torch.arange(4.0) * index / 32, index % 3

def evaluate():
    model.eval()
    {evaluation}
    loss = F.cross_entropy(model(torch.randn(8, 4)), torch.randint(3, (8,)))
    model.train()
    return loss.item()

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout({rate}), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(Numbers(), 8)
for epoch in range(6):
    {epoch}
    for step, (x, y) in enumerate(loader):
        {step}
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    {end}
"""


def program(rate=0.2, **places):
    parts = dict.fromkeys(("item", "evaluation", "epoch", "step", "end"), "pass") | places
    return PROGRAM.format(rate=rate, **parts)


NOISE = "x = x + 0.1 * torch.randn_like(x)"
BLOCK = "with torch.random.fork_rng(devices=[]): torch.manual_seed(0); z = torch.randn(3)"
NEW = "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)"
WRONG = {
    "each step": program(step="torch.manual_seed(0)"),
    "noise of each step": program(rate=0.0, step=f"torch.manual_seed(0); {NOISE}"),
    "each epoch": program(epoch="torch.manual_seed(1)"),
    "an evaluation": program(evaluation="torch.manual_seed(0)", end="evaluate()"),
    "several seeds in an evaluation": program(
        end="[(torch.manual_seed(seed), evaluate()) for seed in range(3)]"
    ),
    "each item the same": program(item="torch.manual_seed(0)"),
    "the state is set": program(
        step="torch.manual_seed(0); state = torch.get_rng_state(); torch.set_rng_state(state)"
    ),
}
ITERATIONS = {"each step": 5, "each epoch": 11, "an evaluation": 11}
APIS = dict.fromkeys(WRONG, "torch.manual_seed")
LINES = dict.fromkeys(WRONG, "optimizer.step()")
ADVISED = {
    "an item by its index": program(item="torch.manual_seed(index)"),
}
RIGHT = {
    "once": program(),
    "by the step": program(step="torch.manual_seed(100 * epoch + step)"),
    "by the epoch": program(epoch="torch.manual_seed(epoch)"),
    "nothing is drawn": program(rate=0.0, step="torch.manual_seed(0)"),
    "only the loader draws": program(rate=0.0, epoch="torch.manual_seed(0)"),
    "a block": program(step=BLOCK),
    "a block, and nothing else": program(rate=0.0, step=BLOCK),
    "a block around the evaluation": program(
        end="with torch.random.fork_rng(devices=[]): torch.manual_seed(0); evaluate()"
    ),
    "another training": program(epoch=f"torch.manual_seed(0); {NEW}"),
    "a generator of its own": program(
        step="z = torch.randn(3, generator=torch.Generator().manual_seed(0))"
    ),
    "checkpointing": program(
        step="from torch.utils.checkpoint import checkpoint; "
        "x = x + checkpoint(model[2], model[1](x.requires_grad_()), use_reentrant=False) * 0",
        epoch="torch.manual_seed(epoch)",
    ),
}
