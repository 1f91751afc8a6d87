"""Whether the vector of a text depends on the texts that are encoded with it, and what the pooled position holds."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    import datasets
    from sentence_transformers import SentenceTransformer

    model, trainer_dataset = names["model"], names["kwargs"]["train_dataloader"].dataset
    assert isinstance(model, SentenceTransformer) and isinstance(trainer_dataset, datasets.Dataset)
    passages = list(trainer_dataset["passage"])[:96]
    training = model.training
    model.eval()
    begins = alone = 0.0
    for start in range(0, len(passages), 32):
        batch = passages[start : start + 32]
        features = model.tokenize(batch)
        begins += (features["attention_mask"][:, 0] == 0).sum().item()
        tensors = {name: value.to(model.device) for name, value in features.items() if torch.is_tensor(value)}
        together = model({**features, **tensors})["sentence_embedding"].cpu()
        single = model.encode(batch, batch_size=1, convert_to_tensor=True, show_progress_bar=False).cpu()
        alone += torch.cosine_similarity(together, single).sum().item()
    model.train(training)
    return {"first_is_padding": begins / len(passages), "alone_and_together": alone / len(passages)}
