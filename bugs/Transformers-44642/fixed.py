"""Teach a small Llama of Hugging Face to go on with a song, chord by chord.

Every epoch prints one JSON object: the mean loss in training, the loss on other songs, the share of chords that are
right when the model is given the first bars of these and writes the others, the share of songs in which all are, and
one song as the model writes it. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import songs
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def build(config):
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=songs.CHORDS,
            hidden_size=config["width"],
            intermediate_size=2 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=songs.BARS,
            initializer_range=config["initial_range"],
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None,
        )
    )


def as_batch(chords):
    """What the model reads, and what it has to say."""
    return {"input_ids": chords, "labels": chords}


def train_epoch(model, data, optimizer, batch_size):
    model.train()
    batches = data[torch.randperm(len(data), device=data.device)].split(batch_size)
    total = 0.0
    for chords in batches:
        loss = model(**as_batch(chords)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(batches)
    return total


@torch.no_grad()
def evaluate(model, data, given):
    model.eval()
    loss = model(**as_batch(data)).loss.item()
    prompt = data[:, :given]
    mask = torch.ones_like(prompt)
    written = model.generate(prompt, attention_mask=mask, max_length=songs.BARS, pad_token_id=songs.CHORDS)
    right = written[:, given:] == data[:, given:]
    return {
        "validation_loss": loss,
        "chords_right": right.float().mean().item(),
        "songs_right": right.all(1).float().mean().item(),
        "example": " ".join(songs.NAMES[chord] for chord in written[0].tolist()),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train = songs.load(config["songs"], seed=2 * config["seed"] + 1).to(device)
    validation = songs.load(config["validation_songs"], seed=2 * config["seed"] + 2).to(device)

    model = build(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        record = {"epoch": epoch, "loss": train_epoch(model, train, optimizer, config["batch_size"])}
        record.update(evaluate(model, validation, config["given"]))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
