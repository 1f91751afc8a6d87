"""Train CoCa of OpenCLIP, from scratch, to compare images of four digits with captions and to write captions.

Every epoch prints one JSON object: the contrastive loss and the loss of captions in training, and in validation the
share of images whose own caption is found first, and the share of digits that written captions name right. At the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import grids
import torch
from open_clip.coca_model import CoCa
from open_clip.loss import CoCaLoss
from torch import nn


def make_model(config, length):
    text = {"context_length": length, "vocab_size": grids.WORDS, "width": config["width"], "heads": config["heads"]}
    text["layers"] = config["layers"]
    model = CoCa(
        embed_dim=config["width"],
        vision_cfg={
            "image_size": 16,
            "layers": config["layers"],
            "width": config["width"],
            "head_width": config["width"] // config["heads"],
            "patch_size": 4,
            "attentional_pool": True,
            "attn_pooler_queries": config["queries"],
            "attn_pooler_heads": config["heads"],
            "output_tokens": True,
        },
        text_cfg={**text, "embed_cls": True, "output_tokens": True},
        multimodal_cfg={**text, "attn_pooler_heads": config["heads"]},
    )
    nn.init.normal_(model.text_decoder.text_projection, std=config["width"] ** -0.5)
    return model


@torch.no_grad()
def write_captions(model, images, length):
    captions = torch.full((len(images), length), grids.START, device=images.device)
    for position in range(length - 1):
        captions[:, position + 1] = model(images, captions)["logits"][:, position].argmax(-1)
    return captions


def train_epoch(model, images, captions, optimizer, criterion, batch_size):
    model.train()
    totals = {"contrastive_loss": 0.0, "caption_loss": 0.0}
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        out = model(images[batch], captions[batch])
        out.update(logits=out["logits"][:, :-1], labels=out["labels"][:, 1:])
        losses = criterion(**out, output_dict=True)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        for name, loss in losses.items():
            totals[name] += loss.item() * len(batch) / len(images)
    return totals


@torch.no_grad()
def evaluate(model, images, captions):
    model.eval()
    similarity = model.encode_image(images) @ model.encode_text(captions).T
    found = similarity.argmax(1) == torch.arange(len(images), device=images.device)
    written = write_captions(model, images, captions.shape[1])
    return {
        "found": found.float().mean().item(),
        "named": (written == captions)[:, 1:-1].float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train = grids.load(config["train"], seed=1, part=0, device=device)
    validation = grids.load(config["validation"], seed=2, part=1, device=device)
    model = make_model(config, train[1].shape[1]).to(device)
    criterion = CoCaLoss(caption_loss_weight=config["caption_weight"], clip_loss_weight=1.0, pad_id=grids.PAD)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = train_epoch(model, *train, optimizer, criterion, config["batch_size"])
        record = {"epoch": epoch, **losses, **evaluate(model, *validation)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
