"""Train a small language model by TRL's SFTTrainer to say which team takes a ticket, and when.

Every epoch prints one JSON object: what the trainer logs, and the share of tickets that are answered right. At the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import tickets
import torch
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from trl import SFTConfig, SFTTrainer


@torch.no_grad()
def share_right(model, tokenizer, rows):
    """Greedy answers to all tickets, word by word."""
    model.eval()
    texts = [tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True) for row in rows]
    words = tokenizer(texts, padding=True, padding_side="left", return_tensors="pt").to(model.device)
    answers = model.generate(
        input_ids=words["input_ids"],
        attention_mask=words["attention_mask"],
        max_new_tokens=4,
        do_sample=False,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    answers = tokenizer.batch_decode(answers[:, words["input_ids"].shape[1] :], skip_special_tokens=True)
    wanted = [row["completion"][0]["content"] for row in rows]
    return sum(answer.strip() == right for answer, right in zip(answers, wanted, strict=True)) / len(rows)


class Printer(TrainerCallback):
    def __init__(self, tokenizer, rows):
        self.tokenizer = tokenizer
        self.rows = rows
        self.train_logs = {}
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" in logs:
            self.train_logs = logs

    def on_evaluate(self, args, state, control, metrics, model, eval_dataloader, **kwargs):
        record = {
            "epoch": round(state.epoch),
            "loss": self.train_logs["loss"],
            "accuracy": self.train_logs["mean_token_accuracy"],
            "validation_loss": metrics["eval_loss"],
            "validation_accuracy": metrics["eval_mean_token_accuracy"],
            "right": share_right(model, self.tokenizer, self.rows),
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
    train = tickets.load(config["tickets"], seed=2 * config["seed"] + 1)
    validation = tickets.load(config["validation_tickets"], seed=2 * config["seed"] + 2)
    tokenizer = tickets.make_tokenizer()
    model = LlamaForCausalLM(
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
    printer = Printer(tokenizer, validation)
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir="checkpoints",
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            per_device_eval_batch_size=config["batch_size"],
            learning_rate=config["learning_rate"],
            logging_strategy="epoch",
            eval_strategy="epoch",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            bf16=False,
            gradient_checkpointing=False,
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
