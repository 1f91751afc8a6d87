"""Teach a small Llama which item of a shop is looked at next, with the Trainer of Hugging Face.

Every epoch prints one JSON object: the mean loss in training and the loss on other visits, both as the Trainer logs
them, the perplexity that follows from the latter, the share of items of other visits that are the first guess of the
model, and the share that are among its three first ones. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

import sessions
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainerCallback, TrainingArguments


def collate(visits):
    """One batch, padded behind to the longest visit."""
    length = max(map(len, visits))
    ids = torch.zeros(len(visits), length, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, visit in enumerate(visits):
        ids[row, : len(visit)] = torch.tensor(visit)
        mask[row, : len(visit)] = 1
    labels = ids.masked_fill(mask == 0, -100)
    labels[:, 0] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class Progress(TrainerCallback):
    """Notes one record for every epoch."""

    def __init__(self, visits):
        self.batch = collate(visits)
        self.losses, self.records = [], []

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            self.losses.append(logs["loss"])

    @torch.no_grad()
    def on_evaluate(self, args, state, control, model=None, metrics=None, **kwargs):
        model.eval()
        ids, mask = self.batch["input_ids"].to(model.device), self.batch["attention_mask"].to(model.device)
        guesses = model(ids, attention_mask=mask).logits[:, :-1].topk(3).indices
        hits = (guesses == ids[:, 1:, None])[mask[:, 1:] == 1].float()
        record = {
            "epoch": round(state.epoch),
            "loss": sum(self.losses) / len(self.losses),
            "validation_loss": metrics["eval_loss"],
            "perplexity": math.exp(metrics["eval_loss"]),
            "first_guess": hits[:, 0].mean().item(),
            "three_guesses": hits.sum(1).mean().item(),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)
        self.losses = []


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    chances = sessions.shop(config["items"], seed=config["seed"])
    train = sessions.load(config["visits"], chances, config["leave"], seed=2 * config["seed"] + 1)
    validation = sessions.load(config["validation_visits"], chances, config["leave"], seed=2 * config["seed"] + 2)

    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config["items"],
            hidden_size=config["width"],
            intermediate_size=2 * config["width"],
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=sessions.LONGEST,
            initializer_range=config["initial_range"],
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=config["batch_size"],
            per_device_eval_batch_size=config["validation_visits"],
            num_train_epochs=config["num_epoch"],
            max_grad_norm=0.0,
            logging_steps=1,
            eval_strategy="epoch",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        watch = Progress(validation)
        optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=config["momentum"])
        trainer = Trainer(
            model,
            arguments,
            data_collator=collate,
            train_dataset=train,
            eval_dataset=validation,
            callbacks=[watch],
            optimizers=(optimizer, None),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(watch.records, indent=1))


if __name__ == "__main__":
    main()
