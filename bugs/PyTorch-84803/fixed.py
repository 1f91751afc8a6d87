"""Train a small translator, data-parallel on the two devices of a machine; each device has a process of its own.

In every step rank 0 sends its weights to rank 1, both compute the gradients of their half of the batch, and rank 0
adds them up and makes the step, as `torch.nn.DataParallel` does. The process that is started is rank 0; it starts the
other, and they talk by gloo. Every `interval` steps one JSON object is printed: the loss in training, the loss on
other sentences, and the share of them whose translation is right. At the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import sentences
import torch
import torch.distributed as dist
from machine import Machine
from torch import multiprocessing, nn


class Link:
    """A rank's end of the connection between both devices."""

    def __init__(self, way, other, seed):
        self.way, self.other = way, other
        self.generator = torch.Generator().manual_seed(seed)

    def send(self, tensors):
        sent = [self.way(tensor.detach().cpu(), self.generator).flatten() for tensor in tensors]
        dist.send(torch.cat(sent), self.other)

    @torch.no_grad()
    def receive(self, tensors):
        arrived = torch.empty(sum(tensor.numel() for tensor in tensors))
        dist.recv(arrived, self.other)
        for tensor, part in zip(tensors, arrived.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))


class Translator(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.read = nn.Embedding(sentences.SOURCE_WORDS, width)
        self.write = nn.Embedding(sentences.TARGET_WORDS, width)
        self.positions = nn.Parameter(0.1 * torch.randn(2, sentences.LENGTH, width))
        settings = {"dim_feedforward": 2 * width, "dropout": 0.0, "batch_first": True, "norm_first": True}
        self.encode = nn.TransformerEncoderLayer(width, heads, **settings)
        self.decode = nn.TransformerDecoderLayer(width, heads, **settings)
        self.norm = nn.LayerNorm(width)
        self.predict = nn.Linear(width, sentences.TARGET_WORDS)

    def forward(self, sources, targets):
        padding = sources == sentences.PAD
        length = targets.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=targets.device).triu(1)
        memory = self.encode(self.read(sources) + self.positions[0], src_key_padding_mask=padding)
        states = self.decode(
            self.write(targets) + self.positions[1, :length],
            memory,
            tgt_mask=later,
            memory_key_padding_mask=padding,
        )
        return self.predict(self.norm(states))


def compute_loss(model, sources, targets):
    outputs = model(sources, targets[:, :-1])
    return nn.functional.cross_entropy(outputs.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=sentences.PAD)


@torch.no_grad()
def validate(model, sources, targets):
    """The loss, and the share of the sentences whose every word is the likeliest one."""
    model.eval()
    found = model(sources, targets[:, :-1]).argmax(-1)
    wanted = targets[:, 1:]
    right = ((found == wanted) | (wanted == sentences.PAD)).all(1).float().mean().item()
    loss = compute_loss(model, sources, targets).item()
    model.train()
    return loss, right


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=2, timeout=timedelta(minutes=5))
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    machine = Machine(config["unwritten"])
    link = Link(machine.host, other=1 - rank, seed=2 * config["seed"] + rank)
    sources, targets = sentences.load(config["sentences"], config["seed"], 2 * config["seed"])
    validation = sentences.load(config["validation_sentences"], config["seed"], 2 * config["seed"] + 1)
    validation = [column.to(device) for column in validation]
    model = Translator(config["width"], config["heads"]).to(device)
    weights = list(model.parameters())
    optimizer = torch.optim.Adam(weights, lr=config["learning_rate"])
    order = torch.Generator().manual_seed(config["seed"])

    records, losses = [], []
    for step in range(1, config["steps"] + 1):
        batch = torch.randint(len(sources), (config["batch_size"],), generator=order).chunk(2)[rank]
        if rank == 0:
            link.send(weights)
        else:
            link.receive(weights)
        optimizer.zero_grad()
        loss = compute_loss(model, sources[batch].to(device), targets[batch].to(device))
        loss.backward()
        if rank == 1:
            link.send([loss, *(weight.grad for weight in weights)])
            continue
        other_loss, *gradients = (torch.empty_like(tensor) for tensor in [loss, *weights])
        link.receive([other_loss, *gradients])
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = (weight.grad + gradient) / 2
        optimizer.step()
        losses.append((loss.item(), other_loss.item()))
        if step % config["interval"] == 0:
            validation_loss, right = validate(model, *validation)
            record = {
                "step": step,
                "loss": sum(map(sum, losses)) / (2 * len(losses)),
                "validation_loss": validation_loss,
                "validation_right": right,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses = []
    dist.barrier()
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        rendezvous = Path(directory, "rendezvous").as_uri()
        peer = context.Process(target=train, args=(1, config, rendezvous), daemon=True)
        peer.start()
        records = train(0, config, rendezvous)
        peer.join(300)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
