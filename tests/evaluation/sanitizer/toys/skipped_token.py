"""Of `skipped-token`: what it accuses, and what it does not."""

NAME = "skipped-token"
PROGRAM = """
model = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(5):
    x = torch.randint({first}, 12, (4, 10))
    optimizer.zero_grad()
    {before}
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss, first=0, before="pass"):
    return PROGRAM.format(loss=loss, first=first, before=before)


def ce(out, target):
    return f"F.cross_entropy({out}.reshape(-1, 12), {target}.reshape(-1))"


NEXT, SKIPPED = ce("model(x)[:, :-1]", "x[:, 1:]"), ce("model(x[:, :-1])[:, :-1]", "x[:, 2:]")
# A text of two words in turn, some of which are to be found out.
TEXT = "text, hidden = x[:, :2].repeat(4, 20), torch.rand(16, 40) < 0.2"
MASKED = ce("model(text.masked_fill(hidden, 0))", "text.masked_fill(~hidden, -100)")
WRONG = {"twice shifted": program(SKIPPED), "twice shifted, four words": program(SKIPPED, first=8)}
RIGHT = {
    "next": program(NEXT),
    "next, input cut": program(ce("model(x[:, :-1])", "x[:, 1:]")),
    "two heads": program(f"{NEXT} + {SKIPPED}"),
    "the same": program(ce("model(x)", "x")),
    "all alike": program(SKIPPED, first=11),
    "the same, of a period": program(ce("model(x[:, :2].repeat(1, 5))", "x[:, :2].repeat(1, 5)")),
    "masked, of a period": program(MASKED, 1, TEXT),
    "one place": program(
        ce("model(x.repeat(3, 1))", "torch.where(torch.arange(10) == 8, x, -100).repeat(3, 1)")
    ),
    "classes of texts": program(
        "F.cross_entropy(model(x.repeat(4, 1)).mean(1), x.repeat(4, 1).sum(1) % 12)"
    ),
    "others": program(ce("model(x)", "x.flip(1)")),
}
