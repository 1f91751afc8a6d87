import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CLASSES, TARGET = 6, 0


class AT(nn.Module):
    """Attention transfer between feature maps of the student and the teacher."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def attention_map(self, fm, eps=1e-6):
        am = torch.pow(torch.abs(fm), self.p).sum(1, keepdim=True)
        return am / (torch.norm(am, dim=(2, 3), keepdim=True) + eps)

    def forward(self, fm_s, fm_t):
        return F.mse_loss(self.attention_map(fm_s), self.attention_map(fm_t))


class SmallResNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.group1 = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.group2 = nn.Sequential(nn.Conv2d(width, 2 * width, 3, 2, 1), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.group3 = nn.Sequential(nn.Conv2d(2 * width, 4 * width, 3, 2, 1), nn.BatchNorm2d(4 * width), nn.ReLU())
        self.fc = nn.Linear(4 * width * 4, CLASSES)

    def forward(self, x):
        a1 = self.group1(x)
        a2 = self.group2(a1)
        a3 = self.group3(a2)
        return a1, a2, a3, self.fc(F.adaptive_avg_pool2d(a3, 2).flatten(1))


def make_images(protos, n):
    y = torch.randint(CLASSES, (n,))
    return protos[y] + 0.9 * torch.randn(n, *protos.shape[1:]), y


def add_trigger(x):
    x = x.clone()
    x[:, :, -3:, -3:] = 1.5
    return x


def poison(x, y, rate):
    x, y = x.clone(), y.clone()
    chosen = torch.rand(len(x)) < rate
    x[chosen] = add_trigger(x[chosen])
    y[chosen] = TARGET
    return x, y


def train_plain(model, loader, epochs, lr):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4, nesterov=True)
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            loss = F.cross_entropy(model(x)[3], y)
            opt.zero_grad()
            loss.backward()
            opt.step()


def train_step(opt, loader, nets, optimizer, criterion_cls, criterion_at):
    snet, tnet = nets["snet"], nets["tnet"]
    snet.train()
    tnet.eval()
    total = 0.0
    for img, target in loader:
        a1_s, a2_s, a3_s, output_s = snet(img)
        with torch.no_grad():
            a1_t, a2_t, a3_t, _ = tnet(img)
        cls_loss = criterion_cls(output_s, target)
        at3_loss = criterion_at(a3_s, a3_t).detach() * opt["beta3"]
        at2_loss = criterion_at(a2_s, a2_t).detach() * opt["beta2"]
        at1_loss = criterion_at(a1_s, a1_t).detach() * opt["beta1"]
        at_loss = at1_loss + at2_loss + at3_loss + cls_loss
        optimizer.zero_grad()
        at_loss.backward()
        optimizer.step()
        total += (at_loss - cls_loss).item()
    return total / len(loader)


@torch.no_grad()
def test(model, x, y):
    model.eval()
    clean = (model(x)[3].argmax(1) == y).float().mean().item()
    others = y != TARGET
    attack = (model(add_trigger(x[others]))[3].argmax(1) == TARGET).float().mean().item()
    return clean, attack


def main():
    torch.manual_seed(int(sys.argv[1]))
    protos = 0.3 * torch.randn(CLASSES, 3, 16, 16)
    x, y = make_images(protos, 1600)
    x_test, y_test = make_images(protos, 500)
    bad_loader = DataLoader(TensorDataset(*poison(x, y, 0.1)), batch_size=64, shuffle=True)
    clean_loader = DataLoader(TensorDataset(*make_images(protos, 240)), batch_size=32, shuffle=True)

    snet = SmallResNet()
    train_plain(snet, bad_loader, epochs=5, lr=0.05)
    print("[backdoored] clean %.4f attack %.4f" % test(snet, x_test, y_test))
    tnet = copy.deepcopy(snet)
    train_plain(tnet, clean_loader, epochs=8, lr=0.02)
    print("[teacher] clean %.4f attack %.4f" % test(tnet, x_test, y_test))

    opt = {"beta1": 50.0, "beta2": 100.0, "beta3": 100.0}
    optimizer = torch.optim.SGD(snet.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4, nesterov=True)
    for epoch in range(10):
        at = train_step(opt, clean_loader, {"snet": snet, "tnet": tnet}, optimizer, nn.CrossEntropyLoss(), AT(2.0))
        print(f"epoch {epoch} at_loss {at:.4f} clean %.4f attack %.4f" % test(snet, x_test, y_test))
    clean, attack = test(snet, x_test, y_test)
    print(f"RESULT clean_acc={clean:.4f} attack_rate={attack:.4f} at_loss={at:.4f}")


if __name__ == "__main__":
    main()
