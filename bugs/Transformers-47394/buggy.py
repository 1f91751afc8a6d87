"""Teach a small GIT (a vision transformer and a text decoder) of Hugging Face to caption pictures of one or two things.

Every epoch prints one JSON object: the mean loss in training, the loss on other pictures, the share of these whose
caption is written right, and the caption of the first of them. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import pictures
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import GitConfig, GitForCausalLM


def build(config):
    shape = {
        "hidden_size": config["width"],
        "intermediate_size": 2 * config["width"],
        "num_hidden_layers": config["layers"],
        "num_attention_heads": 4,
        "initializer_range": config["initial_range"],
    }
    vision = {**shape, "image_size": pictures.SIDE, "patch_size": config["patch"]}
    return GitForCausalLM(
        GitConfig(
            **shape,
            vision_config=vision,
            vocab_size=len(pictures.WORDS),
            max_position_embeddings=pictures.LENGTH,
            pad_token_id=pictures.PAD,
            bos_token_id=pictures.BEGIN,
            eos_token_id=pictures.END,
        )
    )


def compute_loss(model, images, captions):
    labels = captions.masked_fill(captions == pictures.PAD, -100)
    mask = (captions != pictures.PAD).long()
    return model(input_ids=captions, pixel_values=images, attention_mask=mask, labels=labels).loss


def train_epoch(model, loader, optimizer, device):
    model.train()
    total = 0.0
    for images, captions in loader:
        loss = compute_loss(model, images.to(device), captions.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    return total


@torch.no_grad()
def evaluate(model, images, captions):
    model.eval()
    loss = compute_loss(model, images, captions).item()
    written = model.generate(
        input_ids=captions[:, :1], pixel_values=images, max_length=pictures.LENGTH, do_sample=False, use_cache=False
    )
    full = torch.full_like(captions, pictures.PAD)
    full[:, : written.shape[1]] = written
    example = " ".join(pictures.WORDS[token] for token in full[0].tolist() if token > pictures.END)
    return {
        "validation_loss": loss,
        "captions_right": (full == captions).all(1).float().mean().item(),
        "example": example,
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train = pictures.load(config["pictures"], config["noise"], seed=2 * config["seed"] + 1)
    validation = pictures.load(config["validation_pictures"], config["noise"], seed=2 * config["seed"] + 2)
    images, captions = (part.to(device) for part in validation)
    loader = DataLoader(TensorDataset(*train), batch_size=config["batch_size"], shuffle=True)

    model = build(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        record = {"epoch": epoch, "loss": train_epoch(model, loader, optimizer, device)}
        record.update(evaluate(model, images, captions))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
