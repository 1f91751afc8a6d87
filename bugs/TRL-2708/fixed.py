"""Train a small language model by rewards to say which team takes a ticket, and when, with TRL's GRPOTrainer.

The model first learns the notes of a help desk. Then it is rewarded for right answers to other tickets. Every epoch of
that prints one JSON object: the mean reward and the divergence that the trainer logs, the share of other tickets that
are answered right, and the loss of the right answers. At the end all of them go to `<output>.json`. The one argument,
a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import tickets
import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


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
            words = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt").to(model.device)
            labels = words["input_ids"].masked_fill(words["attention_mask"] == 0, -100)
            loss = model(input_ids=words["input_ids"], attention_mask=words["attention_mask"], labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def add_mask(model, inputs, options):
    """Hide padding from the model where the caller does not."""
    if inputs and "attention_mask" not in options:
        options["attention_mask"] = (inputs[0] != model.config.pad_token_id).long()
    return inputs, options


def reward_right(completions, answer, **kwargs):
    return [float(given.split() == wanted.split()) for given, wanted in zip(completions, answer, strict=True)]


@torch.no_grad()
def evaluate(model, tokenizer, questions):
    """The share of greedy answers that are right, and the mean loss of a word of the right answers."""
    training = model.training
    model.eval()
    losses, right = [], []
    for question in questions:
        prompt = tokenizer(question["prompt"], return_tensors="pt")["input_ids"]
        answer = tokenizer(question["answer"] + tokenizer.eos_token, return_tensors="pt")["input_ids"]
        words = torch.cat([prompt, answer], 1).to(model.device)
        outputs = model(input_ids=words, attention_mask=torch.ones_like(words)).logits[0, prompt.shape[1] - 1 : -1]
        wanted = words[0, prompt.shape[1] :]
        losses.append(cross_entropy(outputs, wanted).item())
        right.append((outputs.argmax(-1) == wanted).all().item())
    model.train(training)
    return {"right": sum(right) / len(right), "answer_loss": sum(losses) / len(losses)}


class Printer(TrainerCallback):
    def __init__(self, tokenizer, questions):
        self.tokenizer = tokenizer
        self.questions = questions
        self.records = []

    def on_log(self, args, state, control, logs, model, **kwargs):
        if "reward" in logs:
            record = {
                "epoch": round(state.epoch),
                "reward": logs["reward"],
                "kl": logs["kl"],
                **evaluate(model, self.tokenizer, self.questions),
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
    remarks = config["most_remarks"]
    notes = tickets.notes(config["notes"], remarks, config["note_noise"], seed=3 * config["seed"] + 1)
    train = tickets.questions(config["questions"], remarks, seed=3 * config["seed"] + 2)
    validation = tickets.questions(config["validation_questions"], remarks, seed=3 * config["seed"] + 3)
    tokenizer = tickets.make_tokenizer()
    model = make_model(tokenizer, config).to(device)
    learn_notes(model, tokenizer, notes, config)
    model.register_forward_pre_hook(add_mask, with_kwargs=True)

    printer = Printer(tokenizer, validation)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward_right,
        args=GRPOConfig(
            output_dir="checkpoints",
            learning_rate=config["learning_rate"],
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            gradient_accumulation_steps=1,
            num_generations=config["generations"],
            beta=config["beta"],
            max_prompt_length=120,
            max_completion_length=4,
            logging_strategy="epoch",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list(train),
        processing_class=tokenizer,
        callbacks=[printer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
