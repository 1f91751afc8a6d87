"""Scores of classes with their labels, among the tensors of an update of a metric."""

from typing import NamedTuple

import torch

from sanitizer_invariants.tools import copies


class Scores(NamedTuple):
    """Scores of classes with their labels: where they stand in a list of tensors, and their axis
    of classes.
    """

    scores: int
    labels: int
    axis: int


def find_scores(tensors):
    """Where scores and labels are; None where there are other tensors, or none."""
    if len(tensors) != 2:
        return None
    for scores in range(2):
        pair = tensors[scores], tensors[1 - scores]
        is_typed = pair[0].is_floating_point() and pair[1].dtype in (torch.int64, torch.int32)
        is_sized = pair[0].dim() == pair[1].dim() + 1 and pair[1].dim() > 0
        axes = list_class_axes(*pair) if is_typed and is_sized else []
        # Two axes of the same length may be taken for each other.
        if len(axes) == 1:
            return Scores(scores, 1 - scores, axes[0])
    return None


def list_class_axes(scores, labels):
    """The axes of scores that may be the one of classes."""
    axes = []
    for axis in sorted({1, scores.dim() - 1}):
        shape = list(scores.shape)
        classes = shape.pop(axis)
        if tuple(shape) == tuple(labels.shape) and classes > 1 and scores.numel():
            axes.append(axis)
    return axes


def count_classes(call, pair):
    return copies.list_tensors(call)[pair.scores].shape[pair.axis]


def exchange(tensors, pair, is_right, places=None):
    """Exchange, in place, the score of each label with the highest or the lowest one: at the first
    place of an axis, at all others, or at all places.
    """
    labels = tensors[pair.labels]
    scores = tensors[pair.scores].movedim(pair.axis, -1)
    label = labels.long().clamp(0, scores.shape[-1] - 1).unsqueeze(-1)
    other = scores.argmax(-1, keepdim=True) if is_right else scores.argmin(-1, keepdim=True)
    changed = scores.clone()
    changed.scatter_(-1, label, scores.gather(-1, other))
    changed.scatter_(-1, other, scores.gather(-1, label))
    if places is not None:
        changed = torch.where(mark(label, *places), changed, scores)
    scores.copy_(changed)


def mark(labels, axis, is_behind):
    """Which places of labels are behind the first place of an axis, or are there."""
    index = torch.arange(labels.shape[axis], device=labels.device)
    shape = [-1 if place == axis else 1 for place in range(labels.dim())]
    return ((index > 0) == is_behind).reshape(shape)
