"""Adapt a small GPT-2 to a dialect, with adapters on its embedding and layers and the optimizer LoRA+ of PEFT.

The model first learns a language with all of its weights. Then adapters learn a dialect from few sentences. Every epoch
of that prints one JSON object: the loss in training, and the losses on other sentences of the dialect and of the
language. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import text
import torch
from peft import LoraConfig, get_peft_model
from peft.optimizers import create_loraplus_optimizer
from transformers import GPT2Config, GPT2LMHeadModel


def train_epoch(model, tokens, optimizer, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(tokens)).to(tokens.device).split(batch_size):
        loss = model(input_ids=tokens[batch], labels=tokens[batch]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(tokens)


@torch.no_grad()
def evaluate(model, tokens):
    model.eval()
    return model(input_ids=tokens, labels=tokens).loss.item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    language = text.grammar(config["words"], seed=100 * config["seed"])
    dialect = text.dialect(language, config["changed_words"], seed=100 * config["seed"] + 1)
    length = config["length"]
    pretraining = text.sentences(language, config["pretraining_sentences"], length, seed=2).to(device)
    train = text.sentences(dialect, config["sentences"], length, seed=3).to(device)
    validation = text.sentences(dialect, config["validation_sentences"], length, seed=4).to(device)
    language_validation = text.sentences(language, config["validation_sentences"], length, seed=5).to(device)

    base = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config["words"],
            n_positions=length,
            n_embd=config["width"],
            n_layer=2,
            n_head=2,
            bos_token_id=0,
            eos_token_id=0,
            tie_word_embeddings=False,
        )
    ).to(device)
    optimizer = torch.optim.AdamW(base.parameters(), lr=config["pretraining_rate"])
    for _ in range(config["pretraining_epochs"]):
        train_epoch(base, pretraining, optimizer, config["batch_size"])

    lora = LoraConfig(
        r=8,
        lora_alpha=16,
        target_modules=["wte", "c_attn", "c_fc", "c_proj"],
        fan_in_fan_out=True,
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(base, lora)
    optimizer = create_loraplus_optimizer(
        model=model,
        optimizer_cls=torch.optim.AdamW,
        lr=config["learning_rate"],
        loraplus_lr_ratio=config["ratio"],
        loraplus_lr_embedding=config["embedding_rate"],
    )
    adapters = [parameter for name, parameter in model.named_parameters() if "lora_embedding" in name]
    others = [
        parameter
        for parameter in optimizer.param_groups[0]["params"]
        if not any(parameter is adapter for adapter in adapters)
    ]
    optimizer.param_groups[0]["params"] = others
    optimizer.param_groups[1]["params"] = adapters

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        record = {
            "epoch": epoch,
            "loss": train_epoch(model, train, optimizer, config["batch_size"]),
            "validation_loss": evaluate(model, validation),
            "language_loss": evaluate(model, language_validation),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
