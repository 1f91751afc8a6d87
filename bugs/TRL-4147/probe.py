"""How many tokens of a validation sample have a label, which come first, and the loss of the answers alone."""

import torch
from torch.nn import functional


def start():
    pass


@torch.no_grad()
def look(names):
    model, loader = names["model"], names["eval_dataloader"]
    begin = names["self"].tokenizer.convert_tokens_to_ids(["<|im_start|>", "assistant", "\n"])
    labelled = opening = samples = answer_words = 0
    total = 0.0
    model.eval()
    for batch in loader:
        words, labels = batch["input_ids"].to(model.device), batch["labels"].to(model.device)
        samples += len(words)
        labelled += (labels != -100).sum().item()
        for row, wanted in zip(words, labels, strict=True):
            place = max(place for place in range(len(row)) if row[place : place + 3].tolist() == begin)
            opening += (wanted[place : place + 3] != -100).sum().item()
            wanted[: place + 3] = -100
        logits = model(input_ids=words, attention_mask=batch["attention_mask"].to(model.device)).logits[:, :-1]
        total += functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), reduction="sum").item()
        answer_words += (labels[:, 1:] != -100).sum().item()
    return {
        "labelled": labelled / samples,
        "labelled_opening": opening / samples,
        "answer_loss": total / answer_words,
    }
