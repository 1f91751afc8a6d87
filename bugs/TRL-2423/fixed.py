"""Teach a small language model by preferences which team takes a ticket, and when, with TRL's DPOTrainer.

The model first learns the notes of a help desk. Then pairs of answers say which one is preferred. Every 50 steps of
that print one JSON object: what the trainer logs in training and of other pairs, the share of other tickets that are
answered right, and the loss of the right answers. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import tickets
import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from trl import DPOConfig, DPOTrainer


def make_model(tokenizer, config):
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=4 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def learn_notes(model, tokenizer, notes, config):
    """One pass after the other over the texts, with the loss of all of their words."""
    optimizer = torch.optim.Adam(model.parameters(), lr=config["pretraining_rate"])
    model.train()
    for _ in range(config["pretraining_epochs"]):
        for batch in torch.randperm(len(notes)).split(config["pretraining_batch_size"]):
            texts = [notes[number] + tokenizer.eos_token for number in batch]
            words = tokenizer(texts, padding=True, return_tensors="pt").to(model.device)
            labels = words["input_ids"].masked_fill(words["attention_mask"] == 0, -100)
            loss = model(input_ids=words["input_ids"], attention_mask=words["attention_mask"], labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def evaluate(model, tokenizer, pairs):
    """The share of greedy answers that are right, and the mean loss of a word of the right answers."""
    model.eval()
    words = tokenizer([pair["prompt"] for pair in pairs], padding=True, padding_side="left", return_tensors="pt")
    inputs, mask = words["input_ids"].to(model.device), words["attention_mask"].to(model.device)
    right = torch.tensor([tokenizer(pair["chosen"])["input_ids"] for pair in pairs], device=model.device)
    answers = model.generate(
        input_ids=inputs,
        attention_mask=mask,
        max_new_tokens=right.shape[1],
        min_new_tokens=right.shape[1],
        do_sample=False,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )[:, inputs.shape[1] :]
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    positions = torch.cat([positions, positions[:, -1:] + torch.arange(1, right.shape[1] + 1, device=model.device)], 1)
    outputs = model(
        input_ids=torch.cat([inputs, right], 1),
        attention_mask=torch.cat([mask, torch.ones_like(right)], 1),
        position_ids=positions,
    ).logits[:, -right.shape[1] - 1 : -1]
    return {
        "right": (answers == right).all(1).float().mean().item(),
        "answer_loss": cross_entropy(outputs.flatten(0, 1), right.flatten()).item(),
    }


class Printer(TrainerCallback):
    def __init__(self, tokenizer, pairs):
        self.tokenizer = tokenizer
        self.pairs = pairs
        self.train_logs = {}
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            self.train_logs = logs

    def on_evaluate(self, args, state, control, metrics, model, **kwargs):
        record = {
            "step": state.global_step,
            "loss": self.train_logs["loss"],
            "margin": self.train_logs["rewards/margins"],
            "validation_loss": metrics["eval_loss"],
            "validation_margin": metrics["eval_rewards/margins"],
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
    notes = tickets.notes(config["notes"], config["note_noise"], seed=3 * config["seed"] + 1)
    train = tickets.preferences(config["pairs"], config["preference_noise"], seed=3 * config["seed"] + 2)
    validation = tickets.preferences(config["validation_pairs"], 0, seed=3 * config["seed"] + 3)
    tokenizer = tickets.make_tokenizer()
    model = make_model(tokenizer, config).to(device)
    learn_notes(model, tokenizer, notes, config)

    printer = Printer(tokenizer, validation)
    trainer = DPOTrainer(
        model=model,
        args=DPOConfig(
            output_dir="checkpoints",
            precompute_ref_log_probs=False,
            beta=config["beta"],
            learning_rate=config["learning_rate"],
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            per_device_eval_batch_size=config["batch_size"],
            max_length=64,
            max_prompt_length=48,
            logging_steps=50,
            eval_strategy="steps",
            eval_steps=50,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(validation),
        processing_class=tokenizer,
        callbacks=[printer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
