"""Train a small language model by TRL's SFTTrainer to say which team takes a ticket, and when.

Every epoch prints one JSON object: the loss in training and of other tickets, the share of other tickets that are
answered right by greedy words up to the end of the text, and how many words an answer has, of at most 12. At the end
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

MOST_WORDS = 12


@torch.no_grad()
def evaluate(model, tokenizer, rows):
    model.eval()
    words = tokenizer([text for text, _ in rows], padding=True, padding_side="left", return_tensors="pt")
    inputs = words["input_ids"].to(model.device)
    outputs = model.generate(
        input_ids=inputs,
        attention_mask=words["attention_mask"].to(model.device),
        max_new_tokens=MOST_WORDS,
        do_sample=False,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )[:, inputs.shape[1] :].tolist()
    end = tokenizer.eos_token_id
    answers = [output[: output.index(end)] if end in output else output for output in outputs]
    right = [tokenizer.decode(answer) == wanted for answer, (_, wanted) in zip(answers, rows, strict=True)]
    return {
        "right": sum(right) / len(rows),
        "words": sum(len(answer) for answer in answers) / len(rows),
    }


class Printer(TrainerCallback):
    def __init__(self, tokenizer, rows):
        self.tokenizer = tokenizer
        self.rows = rows
        self.loss = None
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        self.loss = logs.get("loss", self.loss)

    def on_evaluate(self, args, state, control, metrics, model, **kwargs):
        record = {
            "epoch": round(state.epoch),
            "loss": self.loss,
            "validation_loss": metrics["eval_loss"],
            **evaluate(model, self.tokenizer, self.rows),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def make_model(tokenizer, config):
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=4 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=64,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


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
    tokenizer.pad_token = "<|reserved|>"
    printer = Printer(tokenizer, validation)
    trainer = SFTTrainer(
        model=make_model(tokenizer, config),
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
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list([{"text": f"{text} {answer}"} for text, answer in train]),
        eval_dataset=Dataset.from_list([{"text": f"{text} {answer}"} for text, answer in validation]),
        processing_class=tokenizer,
        callbacks=[printer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
