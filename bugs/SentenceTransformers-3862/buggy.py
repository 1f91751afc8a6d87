"""Train a small BERT with sentence-transformers to put sentences near each other that say the same.

Every epoch prints one JSON object: the mean loss in training; of pairs that the model has not met, the share whose
second sentence is the nearest one to the first, and the mean cosine of the two. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import paraphrases
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
    models,
)
from sentence_transformers.training_args import BatchSamplers
from torch.nn.functional import normalize
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, PrinterCallback, TrainerCallback


class Records(TrainerCallback):
    """Prints a record after each epoch, and keeps it."""

    def __init__(self, model, pairs):
        self.model = model
        self.pairs = pairs
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            record = {"epoch": round(state.epoch), "loss": logs["loss"], **evaluate(self.model, self.pairs)}
            print(json.dumps(record), flush=True)
            self.records.append(record)


def evaluate(model, pairs):
    training = model.training
    one, other = (
        normalize(model.encode(sentences, convert_to_tensor=True, show_progress_bar=False), dim=1)
        for sentences in zip(*pairs, strict=True)
    )
    model.train(training)
    cosines = one @ other.T
    own = torch.arange(len(pairs), device=cosines.device)
    return {
        "found": (cosines.argmax(1) == own).float().mean().item(),
        "cosine": cosines.diagonal().mean().item(),
    }


def build(config, folder):
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=paraphrases.word_tokenizer(), pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
    )
    encoder = BertModel(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=2 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=32,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    tokenizer.save_pretrained(folder)
    encoder.save_pretrained(folder)
    transformer = models.Transformer(folder)
    pooling = models.Pooling(config["width"], pooling_mode="mean")
    return SentenceTransformer(modules=[transformer, pooling], device=config["device"])


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    if config["device"] == "auto":
        config["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = paraphrases.load(config["pairs"], config["validation_pairs"], seed=config["seed"])
    anchors, positives = zip(*train, strict=True)

    with tempfile.TemporaryDirectory() as folder:
        model = build(config, folder)
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            learning_rate=config["learning_rate"],
            warmup_ratio=0.1,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            logging_strategy="epoch",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        loss = losses.MegaBatchMarginLoss(model, mini_batch_size=config["mini_batch_size"])
        notes = Records(model, validation)
        trainer = SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict({"anchor": anchors, "positive": positives}),
            loss=loss,
            callbacks=[notes],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(notes.records, indent=1))


if __name__ == "__main__":
    main()
