"""Teach a small language model by preferences which team takes a ticket, and when, with TRL's ORPOTrainer.

At first and every 100 steps it prints one JSON object: what the trainer logs in training and of other pairs, the mean
loss of a word in the preferred texts of these, and the share of other tickets that are answered right. At the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import tickets
import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from trl import ORPOConfig, ORPOTrainer


def make_model(tokenizer, config):
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=4 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=128,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


class Trainer(ORPOTrainer):
    def concatenated_forward(self, model, batch):
        *outputs, _ = super().concatenated_forward(model, batch)
        words, mask = batch["chosen_input_ids"], batch["chosen_attention_mask"]
        labels = words.masked_fill(mask == 0, -100)[:, 1:]
        chosen_logits = outputs[2][:, : labels.shape[1]]
        return *outputs, cross_entropy(chosen_logits.flatten(0, 1), labels.flatten().to(chosen_logits.device))


@torch.no_grad()
def evaluate(model, tokenizer, pairs):
    """The mean loss of a word of the preferred texts, and the share of greedy answers that are right."""
    model.eval()
    losses, right = [], []
    for pair in pairs:
        prompt = tokenizer.bos_token + pair["prompt"]
        text = prompt + pair["chosen"] + tokenizer.eos_token
        words = tokenizer(text, return_tensors="pt")["input_ids"].to(model.device)
        outputs = model(words).logits[0]
        losses.append(cross_entropy(outputs[:-1], words[0, 1:], reduction="none"))
        start = len(tokenizer(prompt)["input_ids"])
        right.append((outputs[start - 1 : -1].argmax(-1) == words[0, start:]).all().item())
    return {"text_loss": torch.cat(losses).mean().item(), "right": sum(right) / len(right)}


class Printer(TrainerCallback):
    def __init__(self, tokenizer, pairs):
        self.tokenizer = tokenizer
        self.pairs = pairs
        self.train_logs = {}
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            self.train_logs = {"loss": logs["loss"], "nll": logs["nll_loss"]}

    def on_evaluate(self, args, state, control, metrics, model, **kwargs):
        record = {
            "step": state.global_step,
            **self.train_logs,
            "validation_loss": metrics["eval_loss"],
            "validation_nll": metrics["eval_nll_loss"],
            "validation_accuracy": metrics["eval_rewards/accuracies"],
            **evaluate(model, self.tokenizer, self.pairs),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train = tickets.preferences(config["pairs"], config["most_remarks"], seed=2 * config["seed"] + 1)
    validation = tickets.preferences(config["validation_pairs"], config["most_remarks"], seed=2 * config["seed"] + 2)
    tokenizer = tickets.make_tokenizer()
    printer = Printer(tokenizer, validation)
    trainer = Trainer(
        model=make_model(tokenizer, config).to(device),
        args=ORPOConfig(
            output_dir="checkpoints",
            beta=config["beta"],
            learning_rate=config["learning_rate"],
            max_steps=config["steps"],
            warmup_steps=config["warmup_steps"],
            per_device_train_batch_size=config["batch_size"],
            per_device_eval_batch_size=config["batch_size"],
            max_length=128,
            max_prompt_length=120,
            logging_steps=100,
            evaluation_strategy="steps",
            eval_steps=100,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(validation),
        tokenizer=tokenizer,
        callbacks=[printer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.evaluate()
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
