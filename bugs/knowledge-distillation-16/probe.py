"""How often the teacher's likeliest digit is the label of the image that it is used for, in the last epoch."""

import torch

hits = []
answers = None


def start():
    functional = torch.nn.functional
    kl_div, cross_entropy = functional.kl_div, functional.cross_entropy

    def watched_kl_div(input, target, *args, **kwargs):
        global answers
        answers = target.argmax(dim=1)
        return kl_div(input, target, *args, **kwargs)

    def watched_cross_entropy(input, target, *args, **kwargs):
        global answers
        if answers is not None:
            hits.extend((answers == target).tolist())
            answers = None
        return cross_entropy(input, target, *args, **kwargs)

    functional.kl_div, functional.cross_entropy = watched_kl_div, watched_cross_entropy


def look(names):
    share = sum(hits) / len(hits)
    hits.clear()
    return {"teacher_right": share}
