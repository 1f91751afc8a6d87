"""How many batches of an epoch were batches of the epoch before, and with how many passages a question was compared.

Both are counted where the loss gets its texts.
"""

from statistics import fmean

batches, before, met = [], set(), {}


def texts(features):
    """Its tokens without padding for each text."""
    return [tuple(token for token in row if token) for row in features["input_ids"].tolist()]


def start():
    from sentence_transformers import losses

    original = losses.MultipleNegativesRankingLoss.forward

    def forward(self, sentence_features, labels):
        features = list(sentence_features)
        questions, passages = map(texts, features)
        batches.append(frozenset(questions))
        for question in questions:
            met.setdefault(question, set()).update(passages)
        return original(self, features, labels)

    losses.MultipleNegativesRankingLoss.forward = forward


def look(names):
    found = {"same": fmean(batch in before for batch in batches), "compared": fmean(map(len, met.values()))}
    before.clear()
    before.update(batches)
    batches.clear()
    return found
