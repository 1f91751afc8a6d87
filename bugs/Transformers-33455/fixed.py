"""Teach a small BERT to tell the language of a word, with the Trainer of Hugging Face and accumulated gradients.

Every update prints one JSON object: how many epochs are through, the loss and the learning rate as the Trainer logs
them, and the share of other words whose language is told. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

import languages
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)


class Words(Dataset):
    def __init__(self, words, labels):
        self.words, self.labels = words, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.words[index], "labels": self.labels[index]}


class Validation(TrainerCallback):
    """Notes one record for every update that is logged."""

    def __init__(self, data):
        self.data = data
        self.records = []

    @torch.no_grad()
    def on_log(self, args, state, control, model=None, logs=None, **kwargs):
        if "loss" not in logs:
            return
        model.eval()
        found = model(self.data.words.to(model.device)).logits.argmax(-1).cpu()
        record = {
            "step": state.global_step,
            "epoch": state.epoch,
            "loss": logs["loss"],
            "learning_rate": logs["learning_rate"],
            "validation_accuracy": (found == self.data.labels).float().mean().item(),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    shape = config["languages"], config["words"], config["length"]
    train = Words(*languages.load(*shape, seed=2 * config["seed"] + 1))
    validation = Words(*languages.load(*shape, seed=2 * config["seed"] + 2))

    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=languages.LETTERS,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=config["length"],
            num_labels=config["languages"],
            pad_token_id=None,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=config["micro_batch_size"],
            gradient_accumulation_steps=config["batch_size"] // config["micro_batch_size"],
            max_steps=math.ceil(config["num_epoch"] * len(train) / config["batch_size"]),
            learning_rate=config["learning_rate"],
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        watch = Validation(validation)
        trainer = Trainer(model, arguments, train_dataset=train, callbacks=[watch])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(watch.records, indent=1))


if __name__ == "__main__":
    main()
