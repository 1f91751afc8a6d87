"""Of `ignored-gradient`: what it accuses, and what it does not."""

NAME = "ignored-gradient"
PROGRAM = """
class Smoothed(nn.Module):
    def __init__(self, ignore_index=-100, smoothing=0.1):
        super().__init__()
        self.ignore_index, self.smoothing = ignore_index, smoothing

    def forward(self, logits, target):
        logarithms = logits.log_softmax(1)
        hit = F.nll_loss(logarithms, target, ignore_index=self.ignore_index)
        {even}
        return (1 - self.smoothing) * hit + self.smoothing * even


model = nn.Linear(4, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = {criterion}
for iteration in range(8):
    labels = torch.randint(6, (16,))
    labels[::3] = {index}
    optimizer.zero_grad()
    criterion(model(torch.randn(16, 4)), labels).backward()
    optimizer.step()
"""
ALL = "even = -logarithms.mean()"
KEPT = "even = -logarithms[target != self.ignore_index].mean()"


def program(even=ALL, criterion="Smoothed()", index="-100"):
    return PROGRAM.format(even=even, criterion=criterion, index=index)


WRONG = {
    "smoothed": program(),
    "another index": program(criterion="Smoothed(0)", index="0"),
}
RIGHT = {
    "those that count": program(KEPT),
    "nothing ignored": program(index="labels[::3]"),
    "of torch": program(criterion="nn.CrossEntropyLoss(label_smoothing=0.1)"),
    "an index": program(criterion="nn.CrossEntropyLoss(ignore_index=0)", index="0"),
}
