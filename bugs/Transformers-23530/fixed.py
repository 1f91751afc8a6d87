"""Train a small GPT-2 with the Trainer of Hugging Face: it spells numbers in English words.

A text is a number, digit by digit, an equals sign, its words and the token that ends a text. Every epoch prints one
JSON object: the training and the validation loss, the share of held-out numbers that are spelt right (answers are
generated greedily), and how many tokens an answer has on average. At the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

END = "<|endoftext|>"
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand"
)
ONES, TENS = WORDS.split()[:20], WORDS.split()[20:28]


def spell(number):
    if number < 20:
        return [ONES[number]]
    if number < 100:
        return [TENS[number // 10 - 2], *([ONES[number % 10]] if number % 10 else [])]
    size, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    return [*spell(number // size), name, *(spell(number % size) if number % size else [])]


def make_tokenizer():
    words = [END, *"0123456789=", *WORDS.split()]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END, model_input_names=names)


class Spelling(TrainerCallback):
    """Notes one record every epoch, after the validation."""

    def __init__(self, tokenizer, numbers, longest):
        self.tokenizer, self.numbers, self.longest = tokenizer, numbers, longest
        self.records, self.loss = [], None

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.loss = logs.get("loss", self.loss)

    @torch.no_grad()
    def on_evaluate(self, args, state, control, model=None, metrics=None, **kwargs):
        questions = [" ".join(str(number)) + " =" for number in self.numbers]
        inputs = self.tokenizer(questions, return_tensors="pt", padding=True, padding_side="left").to(model.device)
        tokens = model.generate(
            **inputs, max_new_tokens=self.longest, do_sample=False, pad_token_id=self.tokenizer.pad_token_id
        )
        right, lengths = 0, []
        for number, answer in zip(self.numbers, tokens[:, inputs["input_ids"].shape[1] :].tolist(), strict=True):
            if self.tokenizer.eos_token_id in answer:
                answer = answer[: answer.index(self.tokenizer.eos_token_id)]
            lengths.append(len(answer))
            right += self.tokenizer.decode(answer).split() == spell(number)
        record = {
            "epoch": round(state.epoch),
            "loss": self.loss,
            "validation_loss": metrics["eval_loss"],
            "right": right / len(self.numbers),
            "answer_length": sum(lengths) / len(lengths),
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    numbers = torch.randperm(10000)[: config["examples"] + config["held_out"]].tolist()

    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
    texts = [" ".join([*str(number), "=", *spell(number), END]) for number in numbers]
    examples = [{"input_ids": ids} for ids in tokenizer(texts)["input_ids"]]
    train, validation = examples[: config["examples"]], examples[config["examples"] :]

    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=64,
            n_positions=64,
            n_embd=config["width"],
            n_layer=2,
            n_head=4,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=config["batch_size"],
            per_device_eval_batch_size=256,
            learning_rate=config["learning_rate"],
            num_train_epochs=config["epochs"],
            eval_strategy="epoch",
            logging_strategy="epoch",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=config["device"] == "cpu",
            seed=config["seed"],
        )
        spelling = Spelling(tokenizer, numbers[config["examples"] :], longest=24)
        trainer = Trainer(
            model,
            arguments,
            data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
            train_dataset=train,
            eval_dataset=validation,
            callbacks=[spelling],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(spelling.records, indent=1))


if __name__ == "__main__":
    main()
