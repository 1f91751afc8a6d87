"""Toys of `trains-in-evaluation-mode`: what it accuses, in which iteration,
and what it does not.
"""

NAME = "trains-in-evaluation-mode"

PROGRAM = """
model = {model}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 4), torch.randint(2, (64,))

def learn():
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(model(points), labels).backward()
        optimizer.step()

def validate():
    model.eval()
    with torch.no_grad():
        model(points)

{epochs}
"""
NET = "nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.Linear(8, 2))"


def program(epochs, model=NET):
    return PROGRAM.format(epochs=epochs, model=model)


FORGOTTEN = "model.train()\nfor epoch in range(3):\n    learn()\n    validate()"
WRONG = {
    "forgotten": program(FORGOTTEN),
    "normalisation": program(
        FORGOTTEN, "nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))"
    ),
    "compiled": program(FORGOTTEN, f"torch.compile({NET}, backend='eager')"),
    "after a validation before the training": program(f"validate()\n{FORGOTTEN}"),
    "between two epochs": program(
        "for epoch in range(3):\n    model.train()\n    learn()\n    validate()\n    learn()"
    ),
}
RIGHT = {
    "to the end in evaluation mode": program(
        "for epoch in range(6):\n    if epoch < 3:\n        model.train()\n    learn()\n    "
        "validate()"
    ),
    "train again": program(
        "for epoch in range(3):\n    model.train()\n    learn()\n    validate()"
    ),
    "nothing to forget": program(FORGOTTEN, "nn.Linear(4, 2)"),
    "no dropout": program(FORGOTTEN, "nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.0))"),
    "second phase": program("learn()\nvalidate()\nmodel.eval()\nlearn()"),
    "second phase with validations": program(
        "learn()\nfor epoch in range(3):\n    model.eval()\n    learn()\n    validate()"
    ),
    "frozen from the beginning": program(
        "model.eval()\nfor epoch in range(3):\n    learn()\n    validate()"
    ),
    "frozen normalisation": program(
        "for epoch in range(3):\n    model.train()\n    model[1].eval()\n    learn()\n    "
        "validate()"
    ),
    "another loop": program(
        "learn()\nvalidate()\nfor _ in range(9):\n    optimizer.zero_grad()\n"
        "    F.cross_entropy(model(points), labels).backward()\n    optimizer.step()"
    ),
    "inputs are learnt": program(
        "learn()\nvalidate()\nseen = points.clone().requires_grad_()\nattack = "
        "torch.optim.SGD([seen], lr=0.1)\nfor _ in range(9):\n    model.zero_grad()\n    "
        "attack.zero_grad()\n    F.cross_entropy(model(seen), labels).backward()\n    attack.step()"
    ),
}

ITERATIONS = dict.fromkeys(WRONG, 4)
