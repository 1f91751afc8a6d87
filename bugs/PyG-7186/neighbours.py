"""The handwritten digits of scikit-learn as a graph: each image is tied to those that are most like it."""

import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph
from torch_geometric.data import Data


def load(neighbours, train_images, device):
    """Return a graph with the images as `x`, the digits as `y`, and who is in training as `train_mask`.

    An edge leads from each of the nearest images to an image, and back. Images are float32, from 0 to 1. They lie in
    the order of their writers, so who is in training is drawn, the same way every time.
    """
    images, labels = load_digits(return_X_y=True)
    rows, columns = kneighbors_graph(images, neighbours).nonzero()
    pairs = torch.tensor(list(zip(rows.tolist(), columns.tolist(), strict=True))).T
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    train_mask = torch.zeros(len(labels), dtype=torch.bool)
    train_mask[order[:train_images]] = True
    graph = Data(
        x=torch.tensor(images, dtype=torch.float32) / 16,
        y=torch.tensor(labels),
        edge_index=torch.cat([pairs, pairs.flip(0)], dim=1).unique(dim=1),
        train_mask=train_mask,
    )
    return graph.to(device)
