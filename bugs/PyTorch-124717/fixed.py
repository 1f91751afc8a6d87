"""Teach a small language model what readers prefer: direct preference optimization (DPO) of a LoRA adapter.

The language has words of a few topics; few words may follow a word. A transformer learns it from texts first. Then
pairs of texts come with the choice of a reader, who likes one topic. The frozen model without the adapter is the
reference of DPO, so that no second model is needed. The compiled model is evaluated on texts and pairs of its own:
perplexity, and how often it finds the chosen text more likely. Every evaluation prints one JSON object; at the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import contextlib
import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


class LoRALinear(nn.Module):
    """A linear layer and a low-rank addition to it, which can be left out."""

    def __init__(self, in_features, out_features, rank, alpha):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.lora_a = nn.Linear(in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, out_features, bias=False)
        nn.init.zeros_(self.lora_b.weight)
        self.scale = alpha / rank
        self.disabled = False

    def forward(self, x):
        out = self.linear(x)
        if self.disabled:
            return out
        return out + self.scale * self.lora_b(self.lora_a(x))


@contextlib.contextmanager
def disable_adapter(model):
    layers = [module for module in model.modules() if isinstance(module, LoRALinear)]
    for layer in layers:
        layer.disabled = True
    try:
        yield
    finally:
        for layer in layers:
            layer.disabled = False


class Block(nn.Module):
    def __init__(self, width, heads, rank, alpha):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = LoRALinear(width, 3 * width, rank, alpha)
        self.project = LoRALinear(width, width, rank, alpha)
        self.norm2 = nn.LayerNorm(width)
        self.up = LoRALinear(width, 4 * width, rank, alpha)
        self.down = LoRALinear(4 * width, width, rank, alpha)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class LanguageModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.words = nn.Embedding(config["words"], width)
        self.positions = nn.Parameter(0.02 * torch.randn(config["length"], width))
        self.blocks = nn.Sequential(
            *(Block(width, config["heads"], config["rank"], config["alpha"]) for _ in range(config["layers"]))
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config["words"])

    def forward(self, texts):
        return self.head(self.norm(self.blocks(self.words(texts) + self.positions[: texts.shape[1]])))


def make_language(config):
    """The probability of each word after each word: four may follow, or any other by chance."""
    words = config["words"]
    follow = torch.full((words, words), 0.02 / words)
    for word in range(words):
        followers = torch.randperm(words)[:4]
        follow[word, followers] += 0.98 * torch.distributions.Dirichlet(torch.ones(4)).sample()
    return follow


def write(language, count, length):
    texts = [torch.randint(len(language), (count,))]
    for _ in range(length - 1):
        texts.append(torch.multinomial(language[texts[-1]], 1).squeeze(1))
    return torch.stack(texts, 1)


def make_pairs(language, count, config):
    """Pairs of texts, the chosen one first; the reader counts the words of a topic, and errs where it is close."""
    texts = write(language, 2 * count, config["length"]).view(count, 2, -1)
    liking = (texts < config["words"] // config["topics"]).sum(2).float()
    chosen = torch.rand(count) > torch.sigmoid(liking[:, 0] - liking[:, 1])
    texts[chosen] = texts[chosen].flip(1)
    return texts


def log_likelihood(model, texts):
    """The log-probability of each text, given its first word."""
    logits = model(texts[:, :-1])
    return -functional.cross_entropy(logits.transpose(1, 2), texts[:, 1:], reduction="none").sum(1)


def pretrain(model, texts, config):
    optimizer = torch.optim.Adam(model.parameters(), lr=config["pretrain_rate"])
    with disable_adapter(model):
        for _ in range(config["pretrain_epochs"]):
            for batch in torch.randperm(len(texts)).to(texts.device).split(2 * config["batch_size"]):
                loss = -log_likelihood(model, texts[batch]).mean() / (texts.shape[1] - 1)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def train(model, pairs, optimizer, config):
    loss_sum = margin_sum = 0.0
    for batch in torch.randperm(len(pairs)).to(pairs.device).split(config["batch_size"]):
        texts = pairs[batch].flatten(0, 1)
        policy = log_likelihood(model, texts)
        with torch.no_grad(), disable_adapter(model):
            reference = log_likelihood(model, texts)
        chosen, rejected = (config["beta"] * (policy - reference)).view(-1, 2).unbind(1)
        loss = -functional.logsigmoid(chosen - rejected).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(batch)
        margin_sum += (chosen - rejected).sum().item()
    return {"loss": loss_sum / len(pairs), "margin": margin_sum / len(pairs)}


@torch.no_grad()
def evaluate(model, texts, pairs, config):
    likelihood = torch.cat([log_likelihood(model, batch) for batch in texts.split(2 * config["batch_size"])])
    judged = [log_likelihood(model, batch.flatten(0, 1)).view(-1, 2) for batch in pairs.split(config["batch_size"])]
    chosen, rejected = torch.cat(judged).unbind(1)
    return {
        "perplexity": torch.exp(-likelihood.mean() / (texts.shape[1] - 1)).item(),
        "accuracy": (chosen > rejected).float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch._dynamo.config.guard_nn_modules = True

    language = make_language(config)
    model = LanguageModel(config).to(device)
    pretrain(model, write(language, config["pretrain_texts"], config["length"]).to(device), config)
    pairs = make_pairs(language, config["pairs"], config).to(device)
    test_texts = write(language, 512, config["length"]).to(device)
    test_pairs = make_pairs(language, 512, config).to(device)

    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora" in name)
    model = torch.compile(model, backend="eager")
    adapter = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(adapter, lr=config["learning_rate"])
    records = []
    for epoch in range(0 if config["evaluate_first"] else 1, config["num_epoch"] + 1):
        record = {"epoch": epoch}
        if epoch:
            record.update(train(model, pairs, optimizer, config))
        record.update(evaluate(model, test_texts, test_pairs, config))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
