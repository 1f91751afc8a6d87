"""Train a small GPT that writes tunes, data-parallel, with accumulated gradients: each rank reads one collection.

The process that is started is rank 0; it starts the others, and they talk by gloo. Gradients are exchanged once a
step. Every `interval` steps one JSON object is printed: the loss in training and that on other tunes of both
collections, both of them means over the ranks, and the norm of the gradient. At the end all of them go to
`<output>.json`, and the weights to `<output>.pt`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import tunes
from torch import multiprocessing, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, states):
        heads = self.attend(self.norm1(states)).unflatten(-1, (3, self.heads, -1))
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.project(mixed.transpose(1, 2).flatten(2))
        return states + self.narrow(functional.gelu(self.widen(self.norm2(states))))


class GPT(nn.Module):
    def __init__(self, width, heads, blocks):
        super().__init__()
        self.tokens = nn.Embedding(tunes.TOKENS, width)
        self.positions = nn.Embedding(tunes.LENGTH - 1, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.predict = nn.Linear(width, tunes.TOKENS, bias=False)

    def forward(self, notes):
        """The loss of each note but the first, given those before it."""
        states = self.tokens(notes[:, :-1]) + self.positions.weight
        logits = self.predict(self.norm(self.blocks(states)))
        return functional.cross_entropy(logits.flatten(0, 1), notes[:, 1:].flatten())


@torch.no_grad()
def validate(model, notes):
    model.eval()
    loss = model(notes)
    model.train()
    return loss.item()


def mean_of_ranks(value):
    value = torch.tensor(value)
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    world_size = config["world_size"]
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=world_size, timeout=timedelta(minutes=5)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    training = tunes.load(config["tunes"], tunes.COLLECTIONS[rank], 10 * config["seed"] + rank).to(device)
    validation = torch.cat(
        [
            tunes.load(config["validation_tunes"], name, 10 * config["seed"] + 5 + number)
            for number, name in enumerate(tunes.COLLECTIONS)
        ]
    ).to(device)
    network = GPT(config["width"], config["heads"], config["blocks"]).to(device)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"], betas=(0.9, 0.95))
    accumulated = config["micro_batches"]
    order = torch.Generator().manual_seed(config["seed"] + rank)

    records, losses, norms = [], [], []
    for step in range(1, config["steps"] + 1):
        optimizer.zero_grad()
        for micro_step in range(accumulated):
            batch = training[torch.randint(len(training), (config["micro_batch_size"],), generator=order).to(device)]
            model.require_backward_grad_sync = micro_step == accumulated - 1
            loss = model(batch) / accumulated
            loss.backward()
            losses.append(accumulated * loss.item())
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        if step % config["interval"] == 0:
            record = {
                "step": step,
                "loss": mean_of_ranks(sum(losses) / len(losses)),
                "validation_loss": mean_of_ranks(validate(network, validation)),
                "gradient_norm": sum(norms) / len(norms),
            }
            records.append(record)
            losses, norms = [], []
            if rank == 0:
                print(json.dumps(record), flush=True)
    if rank == 0:
        torch.save(network.state_dict(), config["output"] + ".pt")
    dist.barrier()
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        rendezvous = Path(directory, "rendezvous").as_uri()
        peers = [
            context.Process(target=train, args=(rank, config, rendezvous), daemon=True)
            for rank in range(1, config["world_size"])
        ]
        for peer in peers:
            peer.start()
        records = train(0, config, rendezvous)
        for peer in peers:
            peer.join(300)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
