"""Pretrain a small vision transformer on handwritten digits without labels, by DINO and iBOT++ of Lightly.

Every epoch prints one JSON object: the loss in training, how well the student guesses the patches of other images that
are hidden from it and the patches that it sees, and the accuracy of nearest neighbours by the teacher's patches. At the
end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from lightly.loss import DINOLoss, IBOTPlusPlusPatchLoss
from lightly.models.modules import DINOProjectionHead, MaskedVisionTransformerTIMM
from lightly.models.utils import random_block_mask, update_momentum
from lightly.utils.scheduler import cosine_schedule
from timm.models.vision_transformer import VisionTransformer
from torch import nn


class Network(nn.Module):
    """A vision transformer and the head for its class token and its patches."""

    def __init__(self, width, prototypes):
        super().__init__()
        vit = VisionTransformer(
            img_size=8, patch_size=2, in_chans=1, embed_dim=width, depth=3, num_heads=4, num_classes=0
        )
        self.backbone = MaskedVisionTransformerTIMM(vit=vit, pos_embed_initialization="skip")
        self.head = DINOProjectionHead(
            input_dim=width, hidden_dim=128, bottleneck_dim=32, output_dim=prototypes, norm_last_layer=False
        )

    def forward(self, images, mask=None):
        """The class token's logits (images, prototypes), and the patches' (images, patches, prototypes)."""
        if mask is not None:
            mask = torch.cat([mask.new_zeros(len(mask), 1), mask.flatten(1)], 1)
        features = self.backbone.encode(images, mask=mask)
        logits = self.head(features.flatten(0, 1)).unflatten(0, features.shape[:2])
        return logits[:, 0], logits[:, 1:]


def view(images):
    """The images, each moved by up to a pixel, brighter or darker, with noise."""
    count = len(images)
    padded = nn.functional.pad(images, (1, 1, 1, 1), value=-1.0)
    rows, columns = torch.randint(3, (2, count)).tolist()
    moved = [padded[i, :, rows[i] : rows[i] + 8, columns[i] : columns[i] + 8] for i in range(count)]
    moved = torch.stack(moved)
    return moved * (0.8 + 0.4 * torch.rand(count, 1, 1, 1)) + 0.1 * torch.randn(moved.shape)


def train_epoch(student, teacher, images, criteria, optimizer, config, step, steps):
    student.train()
    total = 0.0
    batches = torch.randperm(len(images)).split(config["batch_size"])
    for batch in batches:
        views = torch.cat([view(images[batch]), view(images[batch])])
        mask = random_block_mask(size=(len(views), 4, 4), min_num_masks_per_block=1)
        with torch.no_grad():
            teacher_class, teacher_patches = teacher(views)
        student_class, student_patches = student(views, mask)
        loss = criteria["class"](teacher_out=teacher_class.chunk(2), student_out=student_class.chunk(2))
        loss = loss + criteria["patches"](teacher_out=teacher_patches, student_out=student_patches, mask=mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        momentum = cosine_schedule(step=step, max_steps=steps, start_value=0.99, end_value=1.0)
        update_momentum(student, teacher, m=momentum)
        total += loss.item() / len(batches)
        step += 1
    return total, step


@torch.no_grad()
def evaluate(student, teacher, train, validation):
    student.eval()
    (train_images, train_labels), (images, labels) = train, validation
    generator = torch.Generator().manual_seed(0)
    mask = torch.rand(len(images), 4, 4, generator=generator) < 0.3
    guessed = student(images, mask)[1].argmax(-1) == teacher(images)[1].argmax(-1)
    mask = mask.flatten(1)

    features = teacher.backbone.encode(images)[:, 1:].mean(1)
    known = teacher.backbone.encode(train_images)[:, 1:].mean(1)
    neighbours = torch.cdist(features, known).topk(5, largest=False).indices
    voted = train_labels[neighbours].mode(1).values
    return {
        "hidden_patches": guessed[mask].float().mean().item(),
        "seen_patches": guessed[~mask].float().mean().item(),
        "neighbour_accuracy": (voted == labels).float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load("cpu")
    student = Network(config["width"], config["prototypes"])
    teacher = Network(config["width"], config["prototypes"]).eval().requires_grad_(False)
    teacher.load_state_dict(student.state_dict())
    criteria = {
        "class": DINOLoss(output_dim=config["prototypes"]),
        "patches": IBOTPlusPlusPatchLoss(output_dim=config["prototypes"]),
    }
    optimizer = torch.optim.AdamW(student.parameters(), lr=config["learning_rate"])
    steps = config["num_epoch"] * -(-len(train[0]) // config["batch_size"])
    step = 0
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss, step = train_epoch(student, teacher, train[0], criteria, optimizer, config, step, steps)
        record = {"epoch": epoch, "loss": loss, **evaluate(student, teacher, train, validation)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
