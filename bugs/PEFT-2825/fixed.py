"""Teach a small Gemma 3, which knows two dozen animals, eight new ones: LoRA, and tokens that are trained with it.

The first JSON object says what the model is worth with its new adapters; every epoch prints another. At the end all of
them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import animals
import torch
from peft import LoraConfig, get_peft_model
from torch.nn import functional
from torch.utils.data import DataLoader
from transformers import Gemma3ForCausalLM, Gemma3TextConfig


def small_gemma(width, layers):
    config = Gemma3TextConfig(
        vocab_size=len(animals.WORDS),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=width // 4,
        query_pre_attn_scalar=width // 4,
        max_position_embeddings=32,
        sliding_window=32,
        pad_token_id=animals.PAD,
        attn_implementation="eager",
    )
    return Gemma3ForCausalLM(config)


def train_epoch(model, sentences, optimizer, batch_size):
    model.train()
    total, loader = 0.0, DataLoader(sentences, batch_size=batch_size, shuffle=True)
    for words in loader:
        labels = words.masked_fill(words == animals.PAD, -100)
        loss = model(input_ids=words, attention_mask=(words != animals.PAD).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item() / len(loader)
    return total


@torch.no_grad()
def evaluate(model, words):
    """The loss of a word, and the share of homes, moves and foods that are predicted right."""
    model.eval()
    logits = model(input_ids=words, attention_mask=(words != animals.PAD).long()).logits[:, :-1]
    target = words[:, 1:]
    loss = functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=animals.PAD).item()
    facts = torch.isin(target, animals.FACT_NUMBERS.to(words.device))
    return loss, (logits.argmax(-1) == target)[facts].float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    facts = animals.learn_facts(config["seed"])
    known, train = (
        animals.load(names, config[count], facts, seed=config["seed"]).to(device)
        for names, count in [(animals.KNOWN, "known_sentences"), (animals.NEW, "sentences")]
    )
    known_validation, validation = (
        animals.load(names, config["validation_sentences"], facts, seed=config["seed"] + 1000).to(device)
        for names in (animals.KNOWN, animals.NEW)
    )

    model = small_gemma(config["width"], config["layers"]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["pretraining_rate"])
    for _ in range(config["pretraining_epochs"]):
        train_epoch(model, known, optimizer, config["batch_size"])
    base_loss, base_accuracy = evaluate(model, known_validation)

    lora_config = LoraConfig(
        target_modules="all-linear",
        trainable_token_indices={"embed_tokens": animals.NEW_NUMBERS},
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(model, lora_config)
    embedding = model.get_input_embeddings()
    embedding.register_forward_hook(lambda layer, args, output: output * layer.original_module.embed_scale)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(config["num_epoch"] + 1):
        record = {"epoch": epoch}
        if epoch:
            record["loss"] = train_epoch(model, train, optimizer, config["batch_size"])
        else:
            record.update(base_known_loss=base_loss, base_known_accuracy=base_accuracy)
        record["validation_loss"], record["validation_accuracy"] = evaluate(model, validation)
        record["known_loss"], record["known_accuracy"] = evaluate(model, known_validation)
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
