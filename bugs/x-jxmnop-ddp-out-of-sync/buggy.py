"""Train an encoder of queries and documents by a contrastive loss, data-parallel: each process has a share of them.

The process that is started is rank 0; it starts the others, and they talk by gloo. Every step prints one JSON object:
the mean loss of all ranks, and how well rank 0's encoder does on pairs held out. At the end all of them go to
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
from torch.nn.parallel import DistributedDataParallel


class Encoder(nn.Module):
    """How similar is each query to each document?"""

    def __init__(self, features, width):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(features, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, queries, documents):
        queries, documents = (nn.functional.normalize(self.network(texts)) for texts in (queries, documents))
        return queries @ documents.T / 0.1


class Trainer:
    """`model` is the encoder itself, which is evaluated and saved; `model_wrapped` is what is around it."""

    def __init__(self, model, learning_rate):
        self.model = model
        self.model_wrapped = DistributedDataParallel(model)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)

    def training_step(self, queries, documents):
        self.model.train()
        loss = contrastive_loss(self.model(queries, documents))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def evaluate(self, queries, documents):
        self.model.eval()
        similarities = self.model(queries, documents)
        found = similarities.argmax(1) == torch.arange(len(queries), device=queries.device)
        return contrastive_loss(similarities).item(), found.float().mean().item()


def contrastive_loss(similarities):
    """Each query belongs to the document of the same number."""
    return nn.functional.cross_entropy(similarities, torch.arange(len(similarities), device=similarities.device))


def make_pairs(config):
    """Queries and documents: two noisy views, each through a mapping of its own, of the same hidden topics."""
    generator = torch.Generator().manual_seed(config["seed"])
    topics = torch.randn(config["pairs"] + config["validation_pairs"], 16, generator=generator)
    views = []
    for _ in range(2):
        mapping = torch.randn(16, config["features"], generator=generator) / 4
        noise = torch.randn(len(topics), config["features"], generator=generator)
        views.append(torch.tanh(topics @ mapping) + config["noise"] * noise)
    return torch.stack(views).split([config["pairs"], config["validation_pairs"]], dim=1)


def mean_of_ranks(loss):
    loss = loss.cpu()
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"], timeout=timedelta(seconds=60)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    pairs, validation = make_pairs(config)
    pairs, validation = pairs[:, rank :: config["world_size"]].to(device), validation.to(device)
    trainer = Trainer(Encoder(config["features"], config["width"]).to(device), config["learning_rate"])

    records = []
    torch.manual_seed(config["seed"] + rank)
    for _ in range(config["num_epoch"]):
        for batch in torch.randperm(pairs.shape[1]).split(config["batch_size"]):
            loss = trainer.training_step(*pairs[:, batch.to(device)])
            validation_loss, validation_accuracy = trainer.evaluate(*validation)
            record = {
                "step": len(records) + 1,
                "loss": mean_of_ranks(loss),
                "validation_loss": validation_loss,
                "validation_accuracy": validation_accuracy,
            }
            records.append(record)
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
            peer.join(60)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
