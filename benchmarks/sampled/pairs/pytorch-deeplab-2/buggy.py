import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

NUM_CLASSES, IGNORE_LABEL, SIZE = 4, 255, 33
BATCH_SIZE, NUM_STEPS, LEARNING_RATE, MOMENTUM, POWER, WEIGHT_DECAY = 8, 90, 0.02, 0.9, 0.9, 5e-4


class VOCLikeDataSet(Dataset):
    def __init__(self, n, colours):
        yy, xx = np.mgrid[:SIZE, :SIZE]
        self.items = []
        for _ in range(n):
            label = np.zeros((SIZE, SIZE), np.int64)
            for _ in range(np.random.randint(1, 4)):
                cls, r = np.random.randint(1, NUM_CLASSES), np.random.randint(5, 10)
                cy, cx = np.random.randint(0, SIZE, 2)
                inside = (yy - cy) ** 2 + (xx - cx) ** 2 <= r * r
                ring = ((yy - cy) ** 2 + (xx - cx) ** 2 <= (r + 1) ** 2) & ~inside
                label[inside], label[ring] = cls, IGNORE_LABEL
            clean = colours[np.where(label == IGNORE_LABEL, 0, label)]
            image = clean + np.random.normal(0, 0.8, clean.shape)
            self.items.append((image.transpose(2, 0, 1).astype(np.float32), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, label = self.items[i]
        return torch.from_numpy(image), torch.from_numpy(label)


class ClassifierModule(nn.Module):
    def __init__(self, inplanes, dilations):
        super().__init__()
        self.branches = nn.ModuleList(nn.Conv2d(inplanes, NUM_CLASSES, 3, padding=d, dilation=d) for d in dilations)

    def forward(self, x):
        return sum(branch(x) for branch in self.branches)


class DeepLab(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
                                  nn.Conv2d(2 * width, 2 * width, 3, padding=2, dilation=2), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.layer5 = ClassifierModule(2 * width, (1, 2, 3))

    def forward(self, x):
        return self.layer5(self.body(self.stem(x)))


class CrossEntropy2d(nn.Module):
    def __init__(self, ignore_label=IGNORE_LABEL):
        super().__init__()
        self.ignore_label = ignore_label

    def forward(self, predict, target):
        valid = (target >= 0) & (target != self.ignore_label)
        predict = predict.permute(0, 2, 3, 1)[valid]
        return F.cross_entropy(predict, target[valid])


def loss_calc(pred, label):
    criterion = CrossEntropy2d()
    return criterion(pred, label)


def adjust_learning_rate(optimizer, i_iter):
    optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1 - i_iter / NUM_STEPS) ** POWER


@torch.no_grad()
def get_iou(model, loader, interp):
    model.eval()
    hist = torch.zeros(NUM_CLASSES, NUM_CLASSES)
    for images, labels in loader:
        pred = interp(model(images)).argmax(1)
        valid = labels != IGNORE_LABEL
        hist += torch.bincount(NUM_CLASSES * labels[valid] + pred[valid], minlength=NUM_CLASSES ** 2).view(NUM_CLASSES, -1)
    return (hist.diag() / (hist.sum(0) + hist.sum(1) - hist.diag())).mean().item()


def main():
    seed = int(sys.argv[1])
    np.random.seed(seed)
    torch.manual_seed(seed)
    colours = np.random.normal(0, 1, (NUM_CLASSES, 3))
    trainloader = DataLoader(VOCLikeDataSet(240, colours), batch_size=BATCH_SIZE, shuffle=True)
    testloader = DataLoader(VOCLikeDataSet(80, colours), batch_size=BATCH_SIZE)
    model = DeepLab()
    interp = nn.Upsample(size=(SIZE, SIZE), mode="bilinear", align_corners=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    i_iter = 0
    while i_iter < NUM_STEPS:
        model.train()
        for images, labels in trainloader:
            optimizer.zero_grad()
            adjust_learning_rate(optimizer, i_iter)
            pred = F.log_softmax(interp(model(images)), dim=1)
            loss = loss_calc(pred, labels)
            loss.backward()
            optimizer.step()
            if i_iter % 15 == 0:
                print(f"iter = {i_iter} of {NUM_STEPS} completed, loss = {loss.item():.4f}")
            i_iter += 1
    print(f"RESULT loss={loss.item():.4f} mean_iou={get_iou(model, testloader, interp):.4f}")


if __name__ == "__main__":
    main()
