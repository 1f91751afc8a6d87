"""How much does feeding MNIST cost? One pass over the training images, without a model, two ways;
seconds and ratio.

Run in a bug's environment: python loader.py DIR [DEVICE]; DIR holds MNIST/raw.
"""

import statistics
import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import MNIST

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bugs" / "SO-60335387"))
import images  # noqa: E402

BATCH = 64


def plain(loader, device):
    for inputs, labels in loader:
        inputs, labels = inputs.to(device), labels.to(device)


def in_memory(data, device):
    inputs, labels = data
    for batch in torch.randperm(len(labels)).to(device).split(BATCH):
        inputs[batch], labels[batch]


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def main():
    root = sys.argv[1]
    device = sys.argv[2] if len(sys.argv) > 2 else "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(2)
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    loader = DataLoader(
        MNIST(root, train=True, transform=transform), batch_size=BATCH, shuffle=True
    )
    start = time.perf_counter()
    data = tuple(
        tensor.to(device) for tensor in images.read_mnist(root, train=True, download=False)
    )
    once = time.perf_counter() - start
    times = [(seconds(plain, loader, device), seconds(in_memory, data, device)) for _ in range(5)]
    slow, fast = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"device {device}, torch {torch.__version__}, batch {BATCH}, median of {len(times)} passes "
        "over 60,000 images"
    )
    print(f"DataLoader with per-image transforms   {slow:.3f} s a pass")
    print(f"tensors in memory                      {fast:.3f} s a pass (and {once:.2f} s once)")
    print(f"ratio                                  {slow / fast:.1f}")


if __name__ == "__main__":
    main()
