"""Toys of `chooses-nan`: what it accuses, and what it does not."""

NAME = "chooses-nan"
PROGRAM = """
model = nn.Linear(4, 5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points = torch.randn(64, 4)
labels = points.argmax(1)
{before}
for step in range({steps}):
    out = model(points)
    loss = F.cross_entropy(out, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    allowed = torch.rand(64, 5) > 0.4
    {choice}
"""


def program(choice, before="pass", steps=8):
    return PROGRAM.format(choice=choice, before=before, steps=steps)


SCORE = "right = F.one_hot(out.argmax(1), 5); hits = right.sum(0); empty = torch.tensor([0, 1, 1, 1, 1])"
FUNCTION = "def choose(scores, allowed):\n    return {}"
IOU = (
    "left = torch.rand(9, 1); right = left + torch.tensor([0.5, 0.0, 0.3]); "
    "both = (right[None] - left[:, None]).relu(); ious = both[:, 0] * 0 / (right - left)"
)
WRONG = {
    "infinity times a mask": program(
        "action = (out.detach() - float('inf') * (~allowed).float()).argmax(dim=-1)"
    ),
    "the lowest": program(
        "action = torch.argmin(out.detach() + float('inf') * (~allowed).float(), dim=1)"
    ),
    "precision of a class without samples": program(
        f"{SCORE}; best = (hits * empty / (hits * empty)).argmax()"
    ),
    "empty boxes": program(f"{IOU}; best, match = ious.max(1)"),
    "empty boxes, by their index": program(f"{IOU}; match = torch.max(ious, dim=1)[1]"),
    "constant features": program(
        "x = points * torch.tensor([1.0, 0.0, 1.0, 1.0]); "
        "best = (x.T / x.norm(dim=0)[:, None]).sum(1).topk(2).indices"
    ),
    "a function": program(
        "action = choose(out.detach(), allowed)",
        FUNCTION.format("(scores.masked_fill(~allowed, -torch.inf) * allowed).max(-1).indices"),
    ),
    "late": program(
        "cost = float('inf') if step > 60 else 9.0; "
        "action = (out.detach() - cost * (~allowed).float()).argmax(1)",
        steps=420,
    ),
}
RIGHT = {
    "it fills": program("action = out.masked_fill(~allowed, -torch.inf).argmax(1)"),
    "rows of NaN": program(
        "weights = out.masked_fill(allowed[:, :1], -torch.inf).softmax(1); action = weights.argmax(1)"
    ),
    "it replaces NaN": program(
        "scores = out - float('inf') * (~allowed).float(); action = scores.nan_to_num(9).argmax(1)"
    ),
    "it asks afterwards": program(
        "action = choose(out - float('inf') * (~allowed).float())",
        "def choose(scores):\n    best = scores.argmax(1)\n"
        "    return torch.where(scores.isnan().any(1), 0, best)",
    ),
    "the number alone": program(
        "highest = (out - float('inf') * (~allowed).float()).max(1).values; "
        "lowest, _ = (out - float('inf') * (~allowed).float()).min(dim=1)"
    ),
    "a whole number": program("best = (out - float('inf') * (~allowed).float()).max()"),
    "twice": program(
        "scores = out - float('inf') * (~allowed).float() if step < 2 else out; "
        "action = scores.argmax(1)"
    ),
    "weights that diverge": program(
        "action = out.argmax(1)",
        "with torch.no_grad(): model.bias[2] = float('inf'); model.weight[2] = -float('inf')",
    ),
    "integers": program("best = (out * 100).long().argmax(1), allowed.int().max(1).indices"),
    "infinite": program(
        "action = (out - float('inf') * (~allowed)[0, 0]).clamp(-9).argmax(1), out.log().nan_to_num().topk(2)"
    ),
    "compiled": program(
        "action = choose(out, allowed), script(out)",
        "@torch.compile(backend='aot_eager', fullgraph=True)\ndef choose(scores, allowed):\n"
        "    return torch.argmax(scores + 0, 1), scores.max(1)[1], scores.topk(2)[1], "
        "torch.max(scores, dim=1).indices\n"
        "@torch.jit.script\ndef script(scores):\n    return torch.argmax(scores, 1), scores.min(1)[1]",
    ),
    "chosen anew": program(
        "action = choose_anew(out.detach(), allowed)",
        FUNCTION.format("(scores - float('inf') * (~allowed).float()).argmax(1)")
        + "\ndef choose_anew(scores, allowed):\n    action = choose(scores, allowed)\n"
        "    return scores.masked_fill(~allowed, -9.0).argmax(1)",
    ),
    "other shapes": program(
        "many = torch.tensor(1.0).argmax(), torch.vmap(torch.argmax)(out), "
        "torch.max(out, dim=1, keepdim=True), torch.topk(input=out, k=2), torch.max(out, out), "
        "torch.argmax(out, keepdim=True, axis=0), torch.empty(0, 3).argmax(1), "
        "out.half().argmax(1), torch.empty(3, 3, device='meta').argmax(1)"
    ),
}
APIS = {
    "infinity times a mask": "torch.argmax",
    "the lowest": "torch.argmin",
    "empty boxes": "torch.max",
    "constant features": "torch.topk",
}
LINES = dict.fromkeys(["infinity times a mask", "the lowest"], "action = ") | {
    "a function": "return",
    "empty boxes": "ious.max(1)",
}
