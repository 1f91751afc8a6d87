"""Train a small ModernBERT with sentence-transformers to find the passage that answers a question.

Every epoch prints one JSON object: the mean loss in training, and for questions about other shops the share whose own
passage is found first, and the mean reciprocal rank of that passage. At the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import shops
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
from transformers import ModernBertConfig, ModernBertModel, PreTrainedTokenizerFast, PrinterCallback, TrainerCallback


class Records(TrainerCallback):
    """Prints a record for each evaluation, and keeps it."""

    def __init__(self):
        self.records = []

    def on_evaluate(self, args, state, control, metrics, model, **kwargs):
        record = {
            "epoch": round(state.epoch),
            "loss": [entry["loss"] for entry in state.log_history if "loss" in entry][-1],
            "accuracy": metrics["eval_shops_cosine_accuracy@1"],
            "mean_reciprocal_rank": metrics["eval_shops_cosine_mrr@10"],
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def build(config, folder):
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=shops.word_tokenizer(),
        padding_side="right",
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
        model_input_names=["input_ids", "attention_mask"],
    )
    encoder = ModernBertModel(
        ModernBertConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=2 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=None,
            cls_token_id=tokenizer.cls_token_id,
            sep_token_id=tokenizer.sep_token_id,
            reference_compile=False,
        )
    )
    tokenizer.save_pretrained(folder)
    encoder.save_pretrained(folder)
    transformer = models.Transformer(folder)
    pooling = models.Pooling(config["width"], pooling_mode="cls")
    return SentenceTransformer(modules=[transformer, pooling], device=config["device"])


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    if config["device"] == "auto":
        config["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    training, validation = shops.load(config["pairs"], config["validation_pairs"], config["seed"])
    questions, passages = zip(*training, strict=True)
    evaluator = InformationRetrievalEvaluator(
        queries={f"q{number}": question for number, (question, _) in enumerate(validation)},
        corpus={f"p{number}": passage for number, (_, passage) in enumerate(validation)},
        relevant_docs={f"q{number}": {f"p{number}"} for number in range(len(validation))},
        name="shops",
        write_csv=False,
    )

    with tempfile.TemporaryDirectory() as folder:
        model = build(config, folder)
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
            train_dataset=Dataset.from_dict({"question": questions, "passage": passages}),
            loss=losses.MultipleNegativesRankingLoss(model),
            evaluator=evaluator,
            callbacks=[notes],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(notes.records, indent=1))


if __name__ == "__main__":
    main()
