"""The rate at which the adapters of the embedding are updated, and how far they have moved the embedding."""


def start():
    pass


def look(names):
    model = names["model"]
    adapters = {id(parameter) for name, parameter in model.named_parameters() if "lora_embedding" in name}
    groups = names["optimizer"].param_groups
    rates = [group["lr"] for group in groups for parameter in group["params"] if id(parameter) in adapters]
    embedding = model.base_model.model.transformer.wte
    moved = embedding.get_delta_weight("default").norm() / embedding.base_layer.weight.norm()
    return {
        "rate_of_embedding": max(rates),
        "adapters_of_embedding": len(rates),
        "group_sizes": [len(group["params"]) for group in groups],
        "embedding_moved": moved.item(),
    }
