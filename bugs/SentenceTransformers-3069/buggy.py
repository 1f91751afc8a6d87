"""Train a small BERT with sentence-transformers to find the passage that answers a question.

Every epoch prints one JSON object: the mean loss in training, how often the right passage is found first among all of
them for questions in another wording, and the mean of one over its rank (up to rank 10). At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import articles
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
    models,
)
from sentence_transformers.evaluation import InformationRetrievalEvaluator
from sentence_transformers.training_args import BatchSamplers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, PrinterCallback, TrainerCallback


class Records(TrainerCallback):
    """Prints a record for each evaluation, and keeps it."""

    def __init__(self):
        self.records = []

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        record = {
            "epoch": round(state.epoch),
            "loss": [entry["loss"] for entry in state.log_history if "loss" in entry][-1],
            "found": metrics["eval_passages_cosine_accuracy@1"],
            "mrr": metrics["eval_passages_cosine_mrr@10"],
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def build(config, texts, folder):
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=articles.word_tokenizer(texts), pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
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


def make_evaluator(questions, passages):
    """Each question is answered by the passage of the same number."""
    names = [str(number) for number in range(len(passages))]
    return InformationRetrievalEvaluator(
        queries=dict(zip(names, questions, strict=True)),
        corpus=dict(zip(names, passages, strict=True)),
        relevant_docs={name: {name} for name in names},
        name="passages",
        write_csv=False,
    )


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    if config["device"] == "auto":
        config["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    rows, passages, others = articles.load(config["towns"], config["asked"], config["seed"])

    with tempfile.TemporaryDirectory() as folder:
        model = build(config, [*rows["question"], *passages, *others], folder)
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            learning_rate=config["learning_rate"],
            warmup_ratio=0.1,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            eval_strategy="epoch",
            logging_strategy="epoch",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        notes = Records()
        trainer = SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict(rows),
            loss=losses.MultipleNegativesRankingLoss(model),
            evaluator=make_evaluator(others, passages),
            callbacks=[notes],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(notes.records, indent=1))


if __name__ == "__main__":
    main()
