"""Of `improper-targets`: what it accuses, and what it does not."""

NAME = "improper-targets"
PROGRAM = """
model, twin = nn.Linear(4, 3), nn.Linear(4, 3)
teacher = nn.Linear(4, 3).requires_grad_(False).eval()
optimizer = torch.optim.SGD([*model.parameters(), *twin.parameters()], lr=0.001)
for step in range(6):
    x = torch.randn(16, 4)
    is_same = torch.arange(16) % 2
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BINARY = "F.binary_cross_entropy_with_logits(model(x)[:, 0], {})"
COSINE = "F.cosine_embedding_loss(model(x), twin(x), {})"
CTC = (
    "F.ctc_loss(model(x.repeat(2, 1, 1)).log_softmax(-1).reshape(8, 4, 3), {targets}, "
    "torch.full((4,), 8), torch.tensor([2, 1, 2, 1]))"
)


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "0 and 1 for signs": program(COSINE.format("is_same")),
    "0 and 1 for margins": program("F.soft_margin_loss(model(x)[:, 0], is_same.float())"),
    "masks of 255": program(BINARY.format("is_same * 255.0")),
    "signs for shares": program(BINARY.format("is_same * 2.0 - 1")),
    "logits of a teacher": program("F.cross_entropy(model(x), 5 * teacher(x))"),
    "blanks": program(CTC.format(targets="torch.tensor([[0, 1], [2, 2], [0, 2], [1, 1]])")),
}
LINES = dict.fromkeys(WRONG, "loss = ")
APIS = {"blanks": "torch.nn.functional.ctc_loss"}
RIGHT = {
    "signs": program(COSINE.format("is_same * 2 - 1")),
    "left out later": program(
        "(F.binary_cross_entropy_with_logits(model(x)[:, 0], is_same * 2.0 - 1, reduction='none') "
        "* is_same).mean()"
    ),
    "ties": program(
        "F.margin_ranking_loss(model(x)[:, 0], twin(x)[:, 0], torch.arange(16) % 3 - 1.0)"
    ),
    "all alike": program(COSINE.format("torch.ones(16)")),
    "shares": program(BINARY.format("is_same.float()")),
    "noisy labels": program(BINARY.format("is_same + 0.3 * torch.rand(16) - 0.15")),
    "classes": program("F.cross_entropy(model(x), is_same + 1)"),
    "probabilities of a teacher": program("F.cross_entropy(model(x), teacher(x).softmax(-1))"),
    "logarithms": program(
        "F.kl_div(model(x).log_softmax(-1), teacher(x).log_softmax(-1), log_target=True)"
    ),
    "padding of zeros": program(
        CTC.format(targets="torch.tensor([[1, 1], [2, 0], [1, 2], [1, 0]])")
    ),
    "numbers": program("F.mse_loss(model(x)[:, 0], is_same * 255.0)"),
}
