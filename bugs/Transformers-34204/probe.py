"""How much of a batch is there behind the collator, and what the model does with every picture of the validation.

Pictures are handed to the collator one at a time.
"""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model, collate = names["model"], names["collate"]
    model.eval()
    losses, right = [], []
    for example in names["validation"]:
        batch = collate([example])
        outputs = model(**batch)
        found, labels = outputs.logits[:, :-1].argmax(-1), batch["labels"][:, 1:]
        losses.append(outputs.loss.item())
        right.append(((found == labels) | (labels == -100)).all().item())
    model.train()
    return {
        "kept": len(names["batch"]["input_ids"]) / names["config"]["batch_size"],
        "true_validation_loss": sum(losses) / len(losses),
        "right": sum(right) / len(right),
    }
