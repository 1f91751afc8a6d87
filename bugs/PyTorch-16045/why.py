"""Which losses say something when predictions have the shape (n, 1) and targets the shape (n,)? One line for each."""

import warnings

import torch
from torch.nn import functional

LOSSES = {
    "mse_loss": functional.mse_loss,
    "l1_loss": functional.l1_loss,
    "smooth_l1_loss": functional.smooth_l1_loss,
    "huber_loss": functional.huber_loss,
    "poisson_nll_loss": functional.poisson_nll_loss,
    "binary_cross_entropy_with_logits": functional.binary_cross_entropy_with_logits,
    "(prediction - target).square().mean()": lambda prediction, target: (prediction - target).square().mean(),
}


def said(loss, prediction, target):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            loss(prediction, target)
        except ValueError:
            return "refuses"
    return "warns" if caught else "silent"


def main():
    print(f"torch {torch.__version__}")
    for name, loss in LOSSES.items():
        print(f"{name:40} {said(loss, torch.rand(4, 1), torch.rand(4))}")


if __name__ == "__main__":
    main()
