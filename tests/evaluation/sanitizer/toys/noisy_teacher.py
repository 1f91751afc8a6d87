"""Of `noisy-teacher`: what it accuses, and what it does not."""

NAME = "noisy-teacher"
PROGRAM = """
import copy


def make(part, width):
    return nn.Sequential(nn.Linear(4, width), nn.Tanh(), part, nn.Linear(width, 3))


teacher, model = make({part}, {width}), make(nn.Identity(), 8)
student = model
{before}
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for iteration in range(80):
    x = torch.randn(16, 4)
    with torch.set_grad_enabled({grad}):
        targets = teacher(x).softmax(1)
    optimizer.zero_grad()
    F.cross_entropy(student(x), targets).backward()
    optimizer.step()
    {after}
"""
DROPOUT, NORM = "nn.Dropout(0.1)", "nn.BatchNorm1d(16)"
FOLLOW = "[slow.data.lerp_(fast.data, 0.1) for slow, fast in zip(teacher.parameters(), model.parameters())]"


def program(part=DROPOUT, before="pass", grad=False, after="pass", width=16):
    return PROGRAM.format(part=part, before=before, grad=grad, after=after, width=width)


WRONG = {
    "dropout": program(),
    "normalisation": program(NORM),
    "frozen": program(before="teacher.requires_grad_(False)", grad=True),
    "back in training mode": program(before="teacher.eval(); teacher.train()"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.eval")
LINES = {"dropout": "teacher(x)"}
RIGHT = {
    "in evaluation mode": program(before="teacher.eval()"),
    "without either": program("nn.Identity()"),
    "no dropout": program("nn.Dropout(0.0)"),
    "an average": program(after=FOLLOW, width=8),
    "loaded from time to time": program(
        after="iteration % 20 or [p.data.mul_(0.9) for p in teacher.parameters()]"
    ),
    "a target that is copied rarely": program(
        after="iteration % 70 or teacher.load_state_dict(model.state_dict())", width=8
    ),
    "the model itself": program(before="student = teacher"),
    "at times in evaluation mode": program(after="teacher.train(iteration % 20 != 0)"),
    "few steps": program().replace("range(80)", "range(40)"),
}
