"""The loss on other pictures, once against the next word and once against the one after it."""

import pictures
import torch
from torch.nn import functional


def start():
    pass


@torch.no_grad()
def look(names):
    model, images, captions = names["model"], names["images"], names["captions"]
    model.eval()
    mask = (captions != pictures.PAD).long()
    logits = model(input_ids=captions, pixel_values=images, attention_mask=mask).logits[:, -captions.shape[1] :]
    labels = captions.masked_fill(captions == pictures.PAD, -100)
    return {
        "next_word_loss": functional.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:]).item(),
        "second_word_loss": functional.cross_entropy(logits[:, :-2].transpose(1, 2), labels[:, 2:]).item(),
    }
