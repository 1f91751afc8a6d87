"""Pretrain a masked autoencoder of Lightly on handwritten digits: it guesses the patches that are hidden from it.

Every epoch prints one JSON object: the loss in training, the loss on other images, and the share of their patches that
is hidden. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from lightly.models import utils
from lightly.models.modules import MAEDecoderTIMM, MaskedVisionTransformerTIMM
from timm.models.vision_transformer import VisionTransformer
from torch import nn

PATCH = 2


class MAE(nn.Module):
    """The masked autoencoder of Lightly's example, for small images."""

    def __init__(self, width, decoder_width, mask_ratio):
        super().__init__()
        vit = VisionTransformer(
            img_size=8, patch_size=PATCH, in_chans=1, embed_dim=width, depth=4, num_heads=4, num_classes=0
        )
        self.mask_ratio = mask_ratio
        self.backbone = MaskedVisionTransformerTIMM(vit=vit)
        self.sequence_length = self.backbone.sequence_length
        self.decoder = MAEDecoderTIMM(
            num_patches=vit.patch_embed.num_patches,
            patch_size=PATCH,
            in_chans=1,
            embed_dim=width,
            decoder_embed_dim=decoder_width,
            decoder_depth=1,
            decoder_num_heads=4,
        )

    def mask(self, count, device):
        return utils.random_token_mask(size=(count, self.sequence_length), mask_ratio=self.mask_ratio, device=device)

    def reconstruct(self, images, kept, hidden):
        encoded = self.decoder.embed(self.backbone.encode(images, idx_keep=kept))
        tokens = utils.repeat_token(self.decoder.mask_token, (len(images), self.sequence_length))
        tokens = utils.set_at_index(tokens, kept, encoded.type_as(tokens))
        return self.decoder.predict(utils.get_at_index(self.decoder.decode(tokens), hidden))

    def forward(self, images):
        """What is guessed of the hidden patches, and what they are."""
        kept, hidden = self.mask(len(images), images.device)
        target = utils.get_at_index(utils.patchify(images, PATCH), hidden - 1)
        return self.reconstruct(images, kept, hidden), target


def train_epoch(model, images, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        guessed, target = model(images[batch])
        loss = criterion(guessed, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, criterion):
    model.eval()
    guessed, target = model(images)
    return criterion(guessed, target).item(), target.shape[1] / (model.sequence_length - 1)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    (train, _), (validation, _) = digits.load(device)
    model = MAE(config["width"], config["decoder_width"], config["mask_ratio"]).to(device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, hidden_share = evaluate(model, validation, criterion)
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "hidden_share": hidden_share}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
