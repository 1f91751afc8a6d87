"""Toys of `probabilities-as-logits`: what it accuses, in which iteration, and what it does not."""

NAME = "probabilities-as-logits"

PROGRAM = """
model = {model}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(32, 4), torch.randint(3, (32,))
soft, pixels, binary = F.one_hot(labels, 3).float(), labels.view(8, 4), (labels > 1).float()
for iteration in range(6):
    optimizer.zero_grad()
    out = model(points)
    {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss, model="nn.Linear(4, 3)"):
    return PROGRAM.format(loss=loss, model=model)


COMPILED = "torch.compile(nn.Sequential(nn.Linear(4, 3), nn.Softmax(1)), backend='aot_eager')"
BY_GRAPH = {
    "softmax": program("loss = F.cross_entropy(out.softmax(1), labels)"),
    "module": program(
        "loss = nn.CrossEntropyLoss()(out, labels)", "nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))"
    ),
    "soft targets": program("loss = F.cross_entropy(out.softmax(1), soft, label_smoothing=0.1)"),
    "pixels": program(
        "loss = F.cross_entropy(out.view(8, 4, 3).softmax(2).transpose(1, 2), pixels)"
    ),
    "sigmoid": program("loss = F.binary_cross_entropy_with_logits(out.sigmoid()[:, 0], binary)"),
    "softmax of two": program("loss = F.binary_cross_entropy_with_logits(out.softmax(1), soft)"),
}
BY_NUMBERS = {
    "compiled": program("loss = F.cross_entropy(out, labels)", COMPILED),
    "by hand": program("e = out.exp(); loss = F.cross_entropy(e / e.sum(1, keepdim=True), labels)"),
}
RIGHT = {
    "logits": program("loss = F.cross_entropy(out, labels)"),
    "log-probabilities": program("loss = F.cross_entropy(out.log_softmax(1), labels)"),
    "nll": program("loss = F.nll_loss(out.log_softmax(1), labels)"),
    "positive logits": program("loss = F.cross_entropy(out.relu(), labels)"),
    "attention before": program("loss = F.cross_entropy(out.softmax(1) @ torch.randn(3, 3), labels)"),
    "temperature": program("loss = F.cross_entropy(out.softmax(1) * 10, labels)"),
    "bounded logits": program("loss = F.cross_entropy(out.sigmoid(), labels)"),
    "binary": program("loss = F.binary_cross_entropy(out.sigmoid()[:, 0], binary)"),
    "binary logits": program("loss = F.binary_cross_entropy_with_logits(out[:, 0], binary)"),
    "one class": program("loss = F.cross_entropy(out[:, :1].softmax(1) + out[:, :1], labels * 0)"),
    "one hot once": program("F.cross_entropy(soft, labels); loss = F.cross_entropy(out, labels)").replace(
        "F.cross_entropy(soft, "
        "labels);", "if iteration % 3 == 0: F.cross_entropy(soft, labels)\n    ")
    .replace("\n     loss", "\n    loss"),
    "empty": program("_ = F.cross_entropy(out[:0].softmax(1), labels[:0]); loss = F.cross_entropy(out, labels)"),
}  # fmt: skip

WRONG = BY_GRAPH | BY_NUMBERS
ITERATIONS = dict.fromkeys(BY_NUMBERS, 3) | dict.fromkeys(BY_GRAPH, 1)
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy") | dict.fromkeys(
    ("sigmoid", "softmax of two"), "torch.nn.functional.binary_cross_entropy_with_logits"
)
# Other invariants accuse these, and rightly.
OTHERS = {"positive logits": {"bounded-logits"}, "bounded logits": {"bounded-logits"}}
