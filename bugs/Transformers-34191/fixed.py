"""Teach a small Llama to recite letters, with the Trainer of Hugging Face and accumulated gradients.

The letters stand in a cycle. A question is one letter, the answer recites from there on and ends after any letter with
the same probability. Every update prints one JSON object: loss and norm of the gradient as the Trainer logs them, the
loss per token on other answers, with what probability the model ends an answer (on average over the same tokens), and
how many letters its answers have on average. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import itertools
import json
import sys
import tempfile
from pathlib import Path

import torch
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

LETTERS, END, PAD = 26, 26, 27
LONGEST = 64


def examples(count, end_probability, cycle, seed):
    """Questions with answers, as lists: `input_ids`, and `labels`, in which the question's is -100."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for first in torch.randint(LETTERS, (count,), generator=generator).tolist():
        tokens = [first, cycle[first]]
        while len(tokens) < LONGEST - 1 and torch.rand((), generator=generator) >= end_probability:
            tokens.append(cycle[tokens[-1]])
        tokens.append(END)
        found.append({"input_ids": tokens, "labels": [-100, *tokens[1:]]})
    return found


def collate(batch):
    """One batch, padded behind to the longest example."""
    length = max(len(example["input_ids"]) for example in batch)
    ids, labels, mask = [], [], []
    for example in batch:
        rest = length - len(example["input_ids"])
        ids.append(example["input_ids"] + [PAD] * rest)
        labels.append(example["labels"] + [-100] * rest)
        mask.append([1] * (length - rest) + [0] * rest)
    return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels), "attention_mask": torch.tensor(mask)}


class Updates:
    """A loader that fetches all micro-batches of an update, and tells each its share of their labels."""

    def __init__(self, loader, size):
        self.loader, self.size, self.dataset = loader, size, loader.dataset

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        batches = iter(self.loader)
        while update := list(itertools.islice(batches, self.size)):
            counts = [int((batch["labels"] != -100).sum()) for batch in update]
            for batch, count in zip(update, counts, strict=True):
                yield {**batch, "share": count / sum(counts)}


class TokenTrainer(Trainer):
    def get_train_dataloader(self):
        return Updates(super().get_train_dataloader(), self.args.gradient_accumulation_steps)

    def compute_loss(self, model, inputs, return_outputs=False):
        share = inputs.pop("share")
        return share * self.args.gradient_accumulation_steps * super().compute_loss(model, inputs)


class Validation(TrainerCallback):
    """Notes one record for every update that is logged."""

    def __init__(self, data, cycle):
        self.data = collate(data)
        walk = [list(range(LETTERS))]
        while len(walk) < LONGEST:
            walk.append([cycle[letter] for letter in walk[-1]])
        self.recital = torch.tensor(walk).T
        self.records = []

    @torch.no_grad()
    def on_log(self, args, state, control, model=None, logs=None, **kwargs):
        if "loss" not in logs:
            return
        model.eval()
        device = model.device
        logits = model(self.data["input_ids"].to(device), attention_mask=self.data["attention_mask"].to(device)).logits
        labels = self.data["labels"][:, 1:].to(device)
        logits, labels = logits[:, :-1][labels != -100], labels[labels != -100]
        # The letters behind the first one of an answer: each is there if none before it was the last.
        going_on = 1 - model(self.recital.to(device)).logits.softmax(-1)[:, 1:, END]
        record = {
            "step": state.global_step,
            "loss": logs["loss"],
            "grad_norm": logs["grad_norm"],
            "validation_loss": functional.cross_entropy(logits, labels).item(),
            "end_probability": logits.softmax(-1)[:, END].mean().item(),
            "answer_length": 1 + going_on.cumprod(1).sum(1).mean().item(),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    order = torch.randperm(LETTERS).tolist()
    cycle = dict(zip(order, order[1:] + order[:1], strict=True))
    train = examples(config["examples"], config["end_probability"], cycle, seed=config["seed"])
    validation = examples(64, config["end_probability"], cycle, seed=config["seed"] + 1000)

    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=LETTERS + 2,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=LONGEST,
            pad_token_id=PAD,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=config["micro_batch_size"],
            gradient_accumulation_steps=config["batch_size"] // config["micro_batch_size"],
            learning_rate=config["learning_rate"],
            max_steps=config["steps"],
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        watch = Validation(validation, cycle)
        trainer = TokenTrainer(model, arguments, data_collator=collate, train_dataset=train, callbacks=[watch])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(watch.records, indent=1))


if __name__ == "__main__":
    main()
