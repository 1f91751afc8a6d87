"""What the weights that have just been validated would get: in a second validation, and without attention dropout."""


def start():
    pass


def look(names):
    model, held_out, validate = names["model"], names["held_out"], names["validate"]
    second = validate(model, held_out)
    attentions = [block.attention for block in model.blocks]
    probability = attentions[0].dropout
    for attention in attentions:
        attention.dropout = 0.0
    right = validate(model, held_out)
    for attention in attentions:
        attention.dropout = probability
    return {
        "second_validation_loss": second,
        "difference": abs(second - names["record"]["validation_loss"]),
        "loss_without_dropout": right,
    }
