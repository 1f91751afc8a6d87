"""Toys of `ignored-mask`: on what it advises, and on what it does not."""

NAME = "ignored-mask"

TRAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(20, 16), nn.Linear(16, 2)
        self.attention = nn.MultiheadAttention(16, 2, {options}batch_first=True)
        self.recurrent = nn.GRU(16, 16, batch_first=True)
        self.drop = nn.Dropout(0.1)

    def forward(self, texts, {name}=None):
        x = self.words(texts)
        {forward}
        return self.head(self.drop(x))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for iteration in range(8):
    lengths = torch.randint(2, 9, (16,))
    mask = torch.arange(8) < {lengths}[:, None]
    texts = torch.randint(20, (16, 8)) * mask
    labels = (texts.sum(1) > 40).long()
    optimizer.zero_grad()
    F.cross_entropy({call}, labels).backward()
    optimizer.step()
"""


def train(forward, call="net(texts, mask)", name="mask", options="", lengths="lengths"):
    return TRAIN.format(
        forward=forward.replace("\n", "\n        "),
        call=call,
        name=name,
        options=options,
        lengths=lengths,
    )


ATTEND = "x = self.attention(x, x, x)[0].mean(1)"
MASKED = "x = self.attention(x, x, x, key_padding_mask=~mask)[0].mean(1)"
PACK = (
    "packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)\n"
    "x = self.recurrent(packed)[1][0]"
)
ADVISED = {
    "attention without it": train(ATTEND),
    "by its name": train(ATTEND, "net(texts, mask=mask)"),
    "a mean of all places": train("x = x.mean(1)", name="padding_mask"),
    "a recurrent layer without lengths": train(
        "x = self.recurrent(x)[1][0]", "net(texts, lengths)", "lengths"
    ),
    "thrown away": train("masked = x.masked_fill(~mask[..., None], 0)\nx = x.mean(1)"),
    "overwritten": train("mask = torch.ones_like(mask)\nx = (x * mask[..., None]).sum(1)"),
}
RIGHT = {
    "attention": train(MASKED),
    "a mean of some": train("x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)"),
    "packed": train(PACK, "net(texts, lengths)", "lengths"),
    "none is given": train(ATTEND, "net(texts)"),
    "nothing to mask": train(ATTEND, lengths="torch.full((16,), 8)"),
    "of another name": train(ATTEND, "net(texts, mask)", "more"),
    "attention, with dropout": train(MASKED, options="dropout=0.1, "),
    "in the output alone": train("x = x.mean(1) + 0.1 * mask.float().mean(1, keepdim=True)"),
    "later": train(
        "x = (x * mask[..., None]).sum(1) if self.head.weight.grad is None else x.mean(1)"
    ),
    "in evaluation alone": train("x = x.mean(1)", "net.eval()(texts, mask)"),
}
