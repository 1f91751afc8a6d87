"""Scikit-learn's digits as sequences of shades, and whether drawn ones can be recognised."""

import torch
from sklearn.datasets import load_digits


def load(shades, validation, device):
    """Images (number, 64) of whole numbers below `shades`, from black on, and their digits: training and validation."""
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))
    images = (torch.tensor(data.data) * shades / 17).long()[order].to(device)
    digits = torch.tensor(data.target)[order].to(device)
    return (images[:-validation], digits[:-validation]), (images[-validation:], digits[-validation:])


def recognised(drawn, asked, images, digits):
    """The share of drawn images whose nearest real image shows the digit that was asked for."""
    nearest = torch.cdist(drawn.float(), images.float()).argmin(1)
    return (digits[nearest] == asked).float().mean().item()
