import multiprocessing
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def augment_brightness_multiplicative(data, multiplier_range=(0.7, 1.5)):
    multiplier = np.random.uniform(*multiplier_range)
    return data * multiplier


def augment_gaussian_noise(data, noise_std=(0, 0.1)):
    return data + np.random.normal(0.0, np.random.uniform(*noise_std), size=data.shape)


def augment_mirror(data, seg):
    for axis in (1, 2):
        if np.random.uniform() < 0.5:
            data, seg = np.flip(data, axis), np.flip(seg, axis - 1)
    return data, seg


class Transform:
    def __call__(self, data, seg):
        data, seg = data.copy(), seg.copy()
        for i in range(len(data)):
            data[i] = augment_brightness_multiplicative(data[i])
            data[i] = augment_gaussian_noise(data[i])
            data[i], seg[i] = augment_mirror(data[i], seg[i])
        return data.astype(np.float32), seg


class DataLoader:
    def __init__(self, images, masks, batch_size):
        self.images, self.masks, self.batch_size = images, masks, batch_size

    def __next__(self):
        idx = np.random.choice(len(self.images), self.batch_size, replace=False)
        return self.images[idx], self.masks[idx]


def producer(queue, loader, transform, seed, abort):
    np.random.seed(seed)
    while not abort.is_set():
        queue.put(transform(*next(loader)))


class MultiThreadedAugmenter:
    def __init__(self, loader, transform, num_processes, num_cached_per_queue=2, seeds=None):
        seeds = seeds if seeds is not None else [None] * num_processes
        context = multiprocessing.get_context("fork")
        self.abort = context.Event()
        self.queues, self.processes, self.turn = [], [], 0
        for seed in seeds:
            queue = context.Queue(num_cached_per_queue)
            args = (queue, loader, transform, seed, self.abort)
            process = context.Process(target=producer, args=args, daemon=True)
            process.start()
            self.queues.append(queue)
            self.processes.append(process)

    def __next__(self):
        data, seg = self.queues[self.turn].get()
        self.turn = (self.turn + 1) % len(self.queues)
        return data, seg

    def finish(self):
        self.abort.set()
        for process in self.processes:
            process.terminate()
            process.join()


class SegNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.InstanceNorm2d(width, affine=True), nn.LeakyReLU(0.01),
            nn.Conv2d(width, width, 3, padding=1), nn.InstanceNorm2d(width, affine=True), nn.LeakyReLU(0.01),
            nn.Conv2d(width, 2, 1),
        )

    def forward(self, x):
        return self.net(x)


def make_scans(n, rng, size=20):
    axis = np.arange(size)
    gx, gy = np.meshgrid(axis, axis)
    images, masks = 0.3 * rng.randn(n, 1, size, size), np.zeros((n, size, size), dtype=np.int64)
    for i in range(n):
        cx, cy, r = rng.uniform(5, 15), rng.uniform(5, 15), rng.uniform(2, 5)
        masks[i] = (gx - cx) ** 2 + (gy - cy) ** 2 < r ** 2
        images[i, 0] += masks[i] * rng.uniform(0.5, 1.0)
    return images, masks


def dice(model, images, masks):
    model.eval()
    with torch.no_grad():
        pred = model(torch.tensor(images, dtype=torch.float32)).argmax(1)
    truth = torch.tensor(masks)
    return (2 * (pred * truth).sum() / (pred.sum() + truth.sum())).item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    images, masks = make_scans(160, np.random)
    test_images, test_masks = make_scans(60, np.random)
    gen = MultiThreadedAugmenter(DataLoader(images, masks, 8), Transform(), 2, seeds=[seed, seed + 1])
    model = SegNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    seen = 0.0
    for it in range(120):
        model.train()
        data, seg = next(gen)
        loss = F.cross_entropy(model(torch.from_numpy(data)), torch.from_numpy(seg))
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += float(np.abs(data).sum())
        if (it + 1) % 30 == 0:
            print(f"iteration {it + 1} loss {loss.item():.6f}")
    gen.finish()
    print(f"RESULT loss={loss.item():.6f} dice={dice(model, test_images, test_masks):.4f} data_sum={seen:.2f}")


if __name__ == "__main__":
    main()
