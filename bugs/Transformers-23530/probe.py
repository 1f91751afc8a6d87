"""What training is told of the ends of texts, and what the model has made of it.

Of the batches since the last record: the share of texts whose end is among the labels. Of the held-out numbers: the
share of answers that begin with the right words, whatever follows, and how probable the end is after these words.
"""

import functools

import torch
from transformers import DataCollatorForLanguageModeling

batches = []


def start():
    collate = DataCollatorForLanguageModeling.torch_call

    @functools.wraps(collate)
    def counted(self, examples):
        batch = collate(self, examples)
        ends = (batch["input_ids"] == self.tokenizer.eos_token_id) & (batch["attention_mask"] == 1)
        batches.append((int(ends.sum()), int((ends & (batch["labels"] != -100)).sum())))
        return batch

    DataCollatorForLanguageModeling.torch_call = counted


@torch.no_grad()
def look(names):
    ends, learnt = (sum(column) for column in zip(*batches, strict=True))
    batches.clear()
    model, tokenizer, numbers = names["model"], names["self"].tokenizer, names["self"].numbers
    spelt = [tokenizer.convert_tokens_to_ids(names["spell"](number)) for number in numbers]
    answers = names["tokens"][:, names["inputs"]["input_ids"].shape[1] :].tolist()
    begun = sum(answer[: len(words)] == words for answer, words in zip(answers, spelt, strict=True))
    texts = [
        torch.tensor(tokenizer.convert_tokens_to_ids([*str(number), "="]) + words)
        for number, words in zip(numbers, spelt, strict=True)
    ]
    last = torch.tensor([len(text) - 1 for text in texts], device=model.device)
    # What stands behind the last word does not matter to a model that looks back only.
    logits = model(torch.nn.utils.rnn.pad_sequence(texts, batch_first=True).to(model.device)).logits
    ended = logits[torch.arange(len(texts), device=model.device), last].softmax(-1)[:, tokenizer.eos_token_id]
    return {
        "ends_in_labels": learnt / ends,
        "begins_right": begun / len(numbers),
        "end_probability": ended.mean().item(),
    }
