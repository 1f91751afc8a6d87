"""A small network learns from the soft answers of a large one, which it keeps outside of its own modules."""

import experiment
import torch
from torch import nn
from torch.nn import functional


class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        # In a list, so that it is none of the student's parameters.
        self.teacher, self.net = [teacher], experiment.network(12)

    def forward(self, points):
        with torch.no_grad():
            wanted = self.teacher[0](points).softmax(dim=1)
        return self.net(points), wanted


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    teacher = experiment.network(64).to(config["device"])
    optimizer = torch.optim.Adam(teacher.parameters(), lr=0.01)
    for _ in range(5):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(teacher(points[batch]), labels[batch]).backward()
            optimizer.step()

    student = Student(teacher.eval()).to(config["device"])
    optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            answer, wanted = student(points[batch])
            loss = functional.cross_entropy(answer, wanted)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
