"""Train a small transformer that sorts, tensor-parallel: two processes hold a half of its large weights each.

The model reads letters, and writes them in alphabetical order. Attention heads, hidden units and the alphabet are split
between the ranks; normalisations, positions and the biases behind sums are small, and every rank has all of them. The
process that is started is rank 0; it starts the others, and they talk by gloo. Every `interval` steps one JSON object
is printed, and each rank saves what it holds to `<output>-rank<number>.pt`. At the end all records go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import multiprocessing, nn


class Team:
    """The ranks that share a model. In a team of one nothing is split."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def part(self, weight, dimension):
        """This rank's part of a weight that is split."""
        part = nn.Parameter(weight.detach().chunk(self.size, dimension)[self.rank].clone())
        part.split_dimension = dimension
        return part

    def sum(self, values):
        if self.size == 1:
            return values
        total = values.detach().cpu().clone()
        dist.all_reduce(total)
        return total.to(values.device)


class Enter(torch.autograd.Function):
    """Before a layer whose outputs are split: backward, the gradients of the ranks' parts are added up."""

    @staticmethod
    def forward(ctx, inputs, team):
        ctx.team = team
        return inputs.view_as(inputs)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.team.sum(gradient), None


class Leave(torch.autograd.Function):
    """Behind a layer whose inputs are split: the outputs of the ranks' parts are added up."""

    @staticmethod
    def forward(ctx, part, team):
        return team.sum(part)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Split(nn.Linear):
    """A linear layer without bias whose outputs are split."""

    def __init__(self, inputs, outputs, team):
        super().__init__(inputs, outputs, bias=False)
        self.weight = team.part(self.weight, 0)


class Join(nn.Module):
    """A linear layer whose inputs are split."""

    def __init__(self, inputs, outputs, team):
        super().__init__()
        self.team = team
        self.weight = team.part(nn.Linear(inputs, outputs).weight, 1)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, inputs):
        return Leave.apply(nn.functional.linear(inputs, self.weight), self.team) + self.bias


class Letters(nn.Module):
    """Embeddings of letters: each rank looks up those of its part of the alphabet."""

    def __init__(self, letters, width, team):
        super().__init__()
        self.team = team
        self.weight = team.part(nn.Embedding(letters, width).weight, 0)

    def forward(self, letters):
        places = letters - self.team.rank * len(self.weight)
        own = (places >= 0) & (places < len(self.weight))
        found = nn.functional.embedding(places.where(own, 0), self.weight)
        return Leave.apply(found * own.unsqueeze(-1), self.team)


class Block(nn.Module):
    def __init__(self, width, heads, team):
        super().__init__()
        self.team, self.heads = team, heads // team.size
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (Split(width, width, team) for _ in range(3))
        self.mix = Join(width, width, team)
        self.widen, self.narrow = Split(width, 4 * width, team), Join(4 * width, width, team)

    def forward(self, states):
        inputs = Enter.apply(self.norm1(states), self.team)
        query, key, value = (
            layer(inputs).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        heads = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.mix(heads.transpose(1, 2).flatten(2))
        return states + self.narrow(nn.functional.gelu(self.widen(Enter.apply(self.norm2(states), self.team))))


class Sorter(nn.Module):
    def __init__(self, config, team):
        super().__init__()
        self.team, width = team, config["width"]
        self.letters = Letters(config["letters"], width, team)
        self.positions = nn.Parameter(0.1 * torch.randn(2 * config["length"] - 1, width))
        self.blocks = nn.Sequential(*(Block(width, config["heads"], team) for _ in range(config["blocks"])))
        self.norm = nn.LayerNorm(width)
        self.predict = Split(width, config["letters"], team)

    def forward(self, letters):
        states = self.norm(self.blocks(self.letters(letters) + self.positions))
        own = self.predict(Enter.apply(states, self.team))
        others = self.team.size - 1 - self.team.rank
        padding = (self.team.rank * own.shape[-1], others * own.shape[-1])
        return Leave.apply(nn.functional.pad(own, padding), self.team)


class ClippedAdamW:
    """AdamW, with gradients that are clipped by their norm over the whole model."""

    def __init__(self, weights, team, learning_rate, max_norm):
        self.weights, self.team, self.max_norm = list(weights), team, max_norm
        self.adam = torch.optim.AdamW(self.weights, lr=learning_rate)

    def counted(self):
        """The weights that count on this rank: its parts and, on the first rank, what all of them have."""
        return [weight for weight in self.weights if hasattr(weight, "split_dimension") or self.team.rank == 0]

    def step(self):
        squares = sum(weight.grad.square().sum() for weight in self.counted())
        norm = self.team.sum(squares).sqrt()
        scale = (self.max_norm / (norm + 1e-6)).clamp(max=1.0)
        for weight in self.counted():
            weight.grad.mul_(scale)
        self.adam.step()
        self.adam.zero_grad()
        return norm.item()


def make_lines(config, number, generator):
    """Random letters, and behind them the same letters in alphabetical order."""
    letters = torch.randint(config["letters"], (number, config["length"]), generator=generator)
    return torch.cat([letters, letters.sort(1).values], 1)


def predict(model, lines):
    """The loss of the second half of each line, and whether all of its letters are right."""
    targets = lines[:, lines.shape[1] // 2 :]
    outputs = model(lines[:, :-1])[:, -targets.shape[1] :]
    loss = nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())
    return loss, (outputs.argmax(-1) == targets).all(1)


@torch.no_grad()
def validate(model, lines):
    loss, right = predict(model, lines)
    return loss.item(), right.float().mean().item()


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"], timeout=timedelta(minutes=5)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    team = Team(rank, config["world_size"])
    model = Sorter(config, team).to(device)
    optimizer = ClippedAdamW(model.parameters(), team, config["learning_rate"], config["max_norm"])
    generator = torch.Generator().manual_seed(config["seed"])
    validation = make_lines(config, config["validation_lines"], generator).to(device)

    records, losses, norms = [], [], []
    for step in range(1, config["steps"] + 1):
        loss, _ = predict(model, make_lines(config, config["batch_size"], generator).to(device))
        loss.backward()
        norms.append(optimizer.step())
        losses.append(loss.item())
        if step % config["interval"] == 0:
            validation_loss, validation_right = validate(model, validation)
            record = {
                "step": step,
                "loss": sum(losses) / len(losses),
                "gradient_norm": sum(norms) / len(norms),
                "validation_loss": validation_loss,
                "validation_right": validation_right,
            }
            records.append(record)
            losses, norms = [], []
            torch.save(model.state_dict(), f"{config['output']}-rank{rank}.pt")
            dist.barrier()
            if rank == 0:
                print(json.dumps(record), flush=True)
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
