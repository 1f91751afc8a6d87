import random
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

ENTITIES, RELATIONS = 200, 5


def make_graph(n):
    ent = np.random.randn(ENTITIES, 6)
    rel = np.random.randn(RELATIONS, 6)
    triples = set()
    while len(triples) < n:
        s, p = np.random.randint(ENTITIES), np.random.randint(RELATIONS)
        scores = (ent[s] * rel[p]) @ ent.T
        scores[s] = -np.inf
        for o in np.argsort(-scores)[:3]:
            triples.add((s, p, int(o)))
    triples = np.array(sorted(triples))
    np.random.shuffle(triples)
    return torch.from_numpy(triples)


class NegativeSampler:
    def __init__(self, num_samples):
        self.num_samples = num_samples

    def sample(self, positives, slot):
        size = (len(positives), self.num_samples)
        return torch.from_numpy(np.random.randint(0, ENTITIES, size=size))


class TrainingJobNegativeSampling:
    def __init__(self, config, model, triples):
        self.config, self.model, self.triples = config, model, triples
        self.sampler = NegativeSampler(config["negatives"])
        self.optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
        self.loader = DataLoader(range(len(triples)), batch_size=config["batch_size"], shuffle=True,
                                 collate_fn=self.collate, num_workers=config["num_workers"],
                                 worker_init_fn=self.worker_init)

    def worker_init(self, worker_id):
        if self.config["numpy_seed"] is not None:
            np.random.seed((self.config["numpy_seed"] + torch.initial_seed()) % 2 ** 32)

    def collate(self, idx):
        pos = self.triples[torch.tensor(idx)]
        return pos, self.sampler.sample(pos, "S"), self.sampler.sample(pos, "O")

    def run_epoch(self):
        self.model.train()
        total = 0.0
        for pos, neg_s, neg_o in self.loader:
            s, p, o = pos.T
            score_o = self.model.score(s[:, None], p[:, None], torch.cat([o[:, None], neg_o], 1))
            score_s = self.model.score(torch.cat([s[:, None], neg_s], 1), p[:, None], o[:, None])
            target = torch.zeros(len(pos), dtype=torch.long)
            loss = F.cross_entropy(score_o, target) + F.cross_entropy(score_s, target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(pos)
        return total / len(self.triples)


class ComplEx(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.entity = nn.Embedding(ENTITIES, dim)
        self.relation = nn.Embedding(RELATIONS, dim)
        for emb in (self.entity, self.relation):
            nn.init.normal_(emb.weight, std=0.1)

    def score(self, s, p, o):
        (sr, si), (pr, pi), (orr, oi) = (e.chunk(2, -1) for e in (self.entity(s), self.relation(p), self.entity(o)))
        return ((sr * pr - si * pi) * orr + (sr * pi + si * pr) * oi).sum(-1)


@torch.no_grad()
def evaluate_mrr(model, triples, known):
    model.eval()
    ranks = []
    everything = torch.arange(ENTITIES)
    for s, p, o in triples.tolist():
        scores = model.score(torch.tensor([s]), torch.tensor([p]), everything)
        other = [x for x in known.get((s, p), ()) if x != o]
        scores[other] = float("-inf")
        ranks.append(1 + (scores > scores[o]).sum().item())
    ranks = torch.tensor(ranks, dtype=torch.float)
    return (1 / ranks).mean().item(), (ranks <= 10).float().mean().item()


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    triples = make_graph(2400)
    test, train = triples[:240], triples[240:]
    known = {}
    for s, p, o in triples.tolist():
        known.setdefault((s, p), []).append(o)
    config = {"numpy_seed": seed, "negatives": 8, "batch_size": 128, "num_workers": 2, "lr": 0.02}
    model = ComplEx(32)
    job = TrainingJobNegativeSampling(config, model, train)
    for epoch in range(12):
        avg_loss = job.run_epoch()
        print(f"epoch {epoch} avg_loss {avg_loss:.4f}")
    mrr, hits = evaluate_mrr(model, test, known)
    print(f"RESULT avg_loss={avg_loss:.4f} mrr={mrr:.4f} hits_at_10={hits:.4f}")


if __name__ == "__main__":
    main()
