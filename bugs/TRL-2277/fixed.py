"""Teach a small language model which team takes a ticket, and when, with TRL's NashMDTrainer.

The model first learns the notes of a help desk, and a reward model learns preferences between answers. Then the model
learns to give answers that the reward model prefers, and to stay near the model of the notes. Every 25 steps of that
print one JSON object: what the trainer logs of these steps, and the share of other tickets that are answered right. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import inspect
import json
import sys
from pathlib import Path

import tickets
import torch
from datasets import Dataset
from torch.nn.functional import logsigmoid
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    PrinterCallback,
    TrainerCallback,
)
from trl import NashMDConfig, NashMDTrainer


def shape(tokenizer, config):
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=config["width"],
        intermediate_size=4 * config["width"],
        num_hidden_layers=config["layers"],
        num_attention_heads=4,
        max_position_embeddings=64,
        num_labels=1,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )


def read(tokenizer, texts, device):
    return tokenizer(
        [text + tokenizer.eos_token for text in texts], padding=True, padding_side="right", return_tensors="pt"
    ).to(device)


def fit(model, rows, loss_of, config):
    """One pass after the other over the rows, by the loss of a batch of them."""
    optimizer = torch.optim.Adam(model.parameters(), lr=config["pretraining_rate"])
    model.train()
    for _ in range(config["pretraining_epochs"]):
        for batch in torch.randperm(len(rows)).split(config["pretraining_batch_size"]):
            loss = loss_of([rows[number] for number in batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def learn_notes(model, tokenizer, notes, config):
    def loss_of(texts):
        words = read(tokenizer, texts, model.device)
        return model(**words, labels=words["input_ids"].masked_fill(words["attention_mask"] == 0, -100)).loss

    fit(model, notes, loss_of, config)


def learn_preferences(reward_model, tokenizer, pairs, config):
    def loss_of(batch):
        scores = [
            reward_model(**read(tokenizer, [pair["prompt"] + pair[side] for pair in batch], reward_model.device)).logits
            for side in ("chosen", "rejected")
        ]
        return -logsigmoid(scores[0] - scores[1]).mean()

    fit(reward_model, pairs, loss_of, config)


@torch.no_grad()
def evaluate(model, tokenizer, pairs):
    """The share of greedy answers that are right."""
    training = model.training
    model.eval()
    words = tokenizer([pair["prompt"] for pair in pairs], padding=True, return_tensors="pt").to(model.device)
    answers = model.generate(**words, max_new_tokens=3, do_sample=False, pad_token_id=tokenizer.pad_token_id)[
        :, words["input_ids"].shape[1] :
    ]
    model.train(training)
    texts = tokenizer.batch_decode(answers, skip_special_tokens=True)
    right = [text.split() == pair["chosen"].split() for text, pair in zip(texts, pairs, strict=True)]
    return {"right": sum(right) / len(right)}


class Trainer(NashMDTrainer):
    def _compute_losses(self, logprobs, reference_logprobs, *scores):
        loss, score, kl = super()._compute_losses(logprobs, reference_logprobs, *scores)
        ratio = (logprobs - reference_logprobs).detach()
        return loss + self.beta * ((ratio * logprobs).sum(1) - kl).mean(), score, kl


class Printer(TrainerCallback):
    def __init__(self, tokenizer, pairs):
        self.tokenizer = tokenizer
        self.pairs = pairs
        self.records = []

    def on_log(self, args, state, control, logs, model, **kwargs):
        if "loss/kl" in logs:
            record = {
                "nash_md_step": state.global_step,
                "loss": logs["loss"],
                "kl": logs["loss/kl"],
                "entropy": logs["objective/entropy"],
                "reward": logs["rewards/chosen"],
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
    notes = tickets.notes(config["notes"], config["note_noise"], seed=4 * config["seed"] + 1)
    pairs = tickets.preferences(config["pairs"], config["preference_noise"], seed=4 * config["seed"] + 2)
    prompts = tickets.preferences(config["prompts"], 0, seed=4 * config["seed"] + 3)
    validation = tickets.preferences(config["validation_tickets"], 0, seed=4 * config["seed"] + 4)
    tokenizer = tickets.make_tokenizer()
    model = LlamaForCausalLM(shape(tokenizer, config)).to(device)
    reward_model = LlamaForSequenceClassification(shape(tokenizer, config)).to(device)
    learn_notes(model, tokenizer, notes, config)
    learn_preferences(reward_model, tokenizer, pairs, config)

    # Releases before 0.12 call it tokenizer.
    name = "processing_class" if "processing_class" in inspect.signature(NashMDTrainer).parameters else "tokenizer"
    printer = Printer(tokenizer, validation)
    trainer = Trainer(
        model=model,
        reward_model=reward_model,
        args=NashMDConfig(
            output_dir="checkpoints",
            learning_rate=config["learning_rate"],
            beta=config["beta"],
            mixture_coef=config["mixture_coef"],
            temperature=config["temperature"],
            missing_eos_penalty=config["missing_eos_penalty"],
            max_new_tokens=4,
            num_train_epochs=config["num_epoch"],
            per_device_train_batch_size=config["batch_size"],
            warmup_ratio=0.1,
            logging_steps=25,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list([{"prompt": row["prompt"]} for row in prompts]),
        callbacks=[printer],
        **{name: tokenizer},
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
