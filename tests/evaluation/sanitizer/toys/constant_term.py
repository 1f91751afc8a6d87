"""Of `constant-term`: what it accuses, and what it does not."""

NAME = "constant-term"
PROGRAM = """
model, other = nn.Linear(4, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
total, kept = 0.0, torch.tensor(0.0)
for iteration in range({passes}):
    x, y = torch.randn(16, 4), torch.randint(2, (16,))
    optimizer.zero_grad()
    out = model(x)
    loss, term = F.cross_entropy(out, y), other(out).square().mean()
    {step}
    optimizer.step()
"""


def program(step, passes=8):
    return PROGRAM.format(step=step, passes=passes)


WRONG = {
    "item": program("(loss + 0.5 * term.item()).backward()"),
    "detach": program("term = term.detach(); (loss + 0.5 * term).backward()"),
    "float": program("(float(term) + loss).backward()"),
    "list": program(
        "terms = torch.tensor([term, 2 * term]); (loss + 0.1 * terms.mean()).backward()"
    ),
    "sum of items": program(
        "terms = sum(each.item() for each in other(out).square().flatten()); (loss + terms / "
        "16).backward()"
    ),
    "in place": program("loss += term.item(); loss.backward()"),
}
SUMS = "first = F.mse_loss(out, out.flip(0)).detach()\n    second = out.abs().mean().detach() * 3\n    "
WRONG["a sum of two"] = program(SUMS + "(first * 2 + second + loss).backward()", passes=16)
RIGHT = {
    "with gradients": program("(loss + 0.5 * term).backward()"),
    "for the log": program("log = term.item() + loss; (loss + term).backward()"),
    "for the log alone": program("total = total + term.item(); loss.backward()"),
    "running loss": program("total += loss.item() + term.item(); (loss + 2 * term).backward()"),
    "learnt before": program("term.backward(retain_graph=True); (loss + term.item()).backward()"),
    "learnt as well": program("(loss + term + term.item()).backward()"),
    "straight through": program("(loss + (term - loss).detach()).backward()"),
    "weight": program("(loss * term.detach()).backward()"),
    "stable logsumexp": program(
        "z = other(out); m = z.max().detach(); (loss + 0.1 * ((z - m).exp().mean().log() + "
        "m)).backward()"
    ),
    "stable, one of each row": program(
        "z = other(out).T; m = z.amax(1, keepdim=True).detach(); (((z - m).exp().mean().log() + m) "
        "+ loss).backward()"
    ),
    "a constant": program("(loss + 0.5).backward()"),
    "some other number": program("term.item(); (loss + torch.rand(()).item()).backward()"),
    "truncated": program("kept = kept.detach() + loss; kept.backward()"),
}
RIGHT["a sum for the log"] = program(
    SUMS + "total = total + (first + second).item(); loss.backward()", passes=16
)
RIGHT["weights that change"] = program(
    SUMS + "(first * iteration + second * iteration**2 + loss).backward()", passes=16
)
RIGHT["another constant"] = program(
    SUMS + "(torch.rand(()) + torch.rand(()) + loss).backward()", passes=16
)
