"""Scores of three pairs of sentences: together, each alone, and together with the inverse of the sorting.

The third line shows that the order is all that is wrong.
"""

import torch
import torchmetrics
from torch import nn
from torchmetrics.functional.text import helper_embedding_metric
from torchmetrics.text.bert import BERTScore

ANSWERS = ["a b c d", "a b", "a b c"]
TRUTHS = ["a b", "a b c d", "a c"]
WORDS = ["<pad>", "<cls>", "<sep>", "a", "b", "c", "d"]


def tokenize(sentences, max_length):
    rows = [["<cls>", *sentence.split(), "<sep>"] for sentence in sentences]
    numbers = [[WORDS.index(word) for word in row] + [0] * (max_length - len(row)) for row in rows]
    tokens = torch.tensor(numbers)
    return {"input_ids": tokens, "attention_mask": (tokens != 0).long()}


def scores(answers, truths):
    model = nn.Embedding.from_pretrained(torch.eye(len(WORDS)))
    metric = BERTScore(
        model=model,
        user_tokenizer=tokenize,
        user_forward_fn=lambda model, batch: model(batch["input_ids"]),
        max_length=6,
    )
    metric.update(answers, truths)
    return [round(score, 3) for score in torch.atleast_1d(metric.compute()["f1"]).tolist()]


def main():
    print("TorchMetrics", torchmetrics.__version__)
    print("together:              ", scores(ANSWERS, TRUTHS))
    alone = [scores([answer], [truth])[0] for answer, truth in zip(ANSWERS, TRUTHS, strict=True)]
    print("each alone:            ", alone)
    sort = helper_embedding_metric._sort_data_according_length

    def sort_and_invert(*args):
        *sorted_tokens, indices = sort(*args)
        return (*sorted_tokens, indices.argsort())

    helper_embedding_metric._sort_data_according_length = sort_and_invert
    print("together, with inverse:", scores(ANSWERS, TRUTHS))


if __name__ == "__main__":
    main()
