"""Mix four LoRA adapters of a small language model with X-LoRA of PEFT.

The model learns tickets of a help desk, of which many have a random answer. Each adapter learns the tickets of one
team. Then X-LoRA learns which adapters each word needs. Every epoch of that prints one JSON object: the loss in
training and of other tickets, and the probability that the model gives to the right answer. At the end all of them go
to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import tickets
import torch
from peft import LoraConfig, XLoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


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
            eos_token_id=None,
            use_cache=False,
        )
    )


def make_xlora(model, adapters, config):
    xlora = XLoraConfig(
        task_type="CAUSAL_LM",
        hidden_size=config["width"],
        adapters=adapters,
        enable_softmax=True,
        enable_softmax_topk=False,
        top_k_lora=config["top_k"],
    )
    return get_peft_model(model, xlora)


def train_epoch(model, tokenizer, rows, optimizer, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(rows)).split(batch_size):
        words, mask, labels = tickets.collate(tokenizer, [rows[number] for number in batch])
        words, mask, labels = words.to(model.device), mask.to(model.device), labels.to(model.device)
        loss = model(input_ids=words, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(rows)


def fit(model, tokenizer, rows, config, learning_rate, epochs):
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=learning_rate)
    for _ in range(epochs):
        train_epoch(model, tokenizer, rows, optimizer, config["batch_size"])


@torch.no_grad()
def evaluate(model, tokenizer, rows, batch_size):
    model.eval()
    losses, probabilities = [], []
    for start in range(0, len(rows), batch_size):
        words, mask, _ = tickets.collate(tokenizer, rows[start : start + batch_size])
        words, mask = words.to(model.device), mask.to(model.device)
        outputs = model(input_ids=words, attention_mask=mask).logits[:, -3:-1].log_softmax(-1)
        right = outputs.gather(-1, words[:, -2:, None]).squeeze(-1)
        losses.append(-right.mean(1))
        probabilities.append(right.sum(1).exp())
    return torch.cat(losses).mean().item(), torch.cat(probabilities).mean().item()


def train_adapters(base, tokenizer, config):
    """Train an adapter for the tickets of each team, and return the folders in which they are saved."""
    folders = {}
    for number, team in enumerate(tickets.TEAMS):
        rows = tickets.load(config["adapter_tickets"], seed=100 * config["seed"] + 10 + number, teams=(team,))
        lora = LoraConfig(task_type="CAUSAL_LM", r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"])
        model = get_peft_model(copy.deepcopy(base), lora)
        fit(model, tokenizer, rows, config, config["adapter_rate"], config["adapter_epochs"])
        folders[str(number)] = f"{config['output']}-{team}"
        model.save_pretrained(folders[str(number)])
    return folders


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    tokenizer = tickets.make_tokenizer()
    notes = tickets.load(config["notes"], seed=100 * config["seed"] + 1, noise=config["note_noise"])
    train = tickets.load(config["tickets"], seed=100 * config["seed"] + 2)
    validation = tickets.load(config["validation_tickets"], seed=100 * config["seed"] + 3)

    base = make_model(tokenizer, config).to(device)
    fit(base, tokenizer, notes, config, config["pretraining_rate"], config["pretraining_epochs"])
    model = make_xlora(base, train_adapters(base, tokenizer, config), config)
    optimizer = torch.optim.Adam(
        [weight for weight in model.parameters() if weight.requires_grad], lr=config["learning_rate"]
    )
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, tokenizer, train, optimizer, config["batch_size"])
        validation_loss, probability = evaluate(model, tokenizer, validation, config["batch_size"])
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "probability": probability}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
