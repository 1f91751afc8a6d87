"""Of `reads-ahead`: what it accuses, and what it does not."""

NAME = "reads-ahead"
PROGRAM = """
WORDS, LENGTH = 20, 24


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True, dropout=0.1)

    def forward(self, x):
        mask = {mask}
        return self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]


class Recurrent(nn.Module):
    def __init__(self, both=False):
        super().__init__()
        self.layer = nn.LSTM(16, 8 if both else 16, bidirectional=both, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


class Convolution(nn.Module):
    def __init__(self, left):
        super().__init__()
        self.left, self.layer = left, nn.Conv1d(16, 16, 3)

    def forward(self, x):
        x = F.pad(x.transpose(1, 2), (self.left, 2 - self.left))
        return self.layer(x).transpose(1, 2)


class Latent(nn.Module):
    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        return x + mean + (torch.randn_like(mean) if self.training else 0)


class Pooled(nn.Module):
    def forward(self, x):
        return x + x.mean(1, keepdim=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.body = nn.Embedding(WORDS, 16), {body}
        self.places = nn.Parameter(torch.randn(LENGTH + 1, 16))
        self.head = nn.Linear(16, WORDS)

    def forward(self, tokens, labels=None):
        x = self.embedding(tokens)
        x = x + {code}
        return self.head(self.body(x))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(8):
    text = torch.randint(WORDS, (8, LENGTH + 1))
    inputs, targets = {data}
    logits = model({arguments})
    loss = F.cross_entropy(logits.reshape(-1, WORDS), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MASK = "torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)"
BOTH = "nn.Transformer.generate_square_subsequent_mask(LENGTH)"
SHIFTED, WHOLE = "text[:, :-1], text[:, 1:]", "text[:, 1:], text[:, 1:]"


PLACES = "self.places[: x.shape[1]]"


def program(body, mask="None", data=SHIFTED, arguments="inputs", code=PLACES):
    return PROGRAM.format(body=body, mask=mask, data=data, arguments=arguments, code=code)


WRONG = {
    "no mask": program("Attention()"),
    "a mask the wrong way round": program("Attention()", MASK.replace("triu(1)", "tril(-1)")),
    "both directions": program("Recurrent(both=True)"),
    "padded on both sides": program("Convolution(1)"),
    "a mean of all": program("Pooled()"),
    "a hint": program(
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1)"
    ),
    "shifted by the loss": program("Attention()", data="text, text[:, 1:]").replace(
        "logits.reshape", "logits[:, :-1].reshape"
    ),
    "labels that go along": program("Pooled()", arguments="inputs, labels=inputs.clone()"),
    "places first": program("Attention()", data="text[:, :-1].T, text[:, 1:].T")
    .replace("batch_first=True", "batch_first=False")
    .replace(PLACES, "self.places[: len(x), None]"),
}
WRONG["one text"] = program("Attention()", data="text[:1, :-1], text[:1, 1:]").replace(
    "WORDS, (8", "WORDS, (1"
)
APIS = {
    "no mask": "torch.nn.MultiheadAttention",
    "both directions": "torch.nn.LSTM",
    "padded on both sides": "torch.nn.Module.__call__",
}
LINES = dict.fromkeys(WRONG, "logits = model(")
ENCODED = "+ self.body(self.embedding(labels)).mean(1, keepdim=True)))"
RIGHT = {
    "an encoder of the same": program("Recurrent()", arguments="inputs, inputs.clone()").replace(
        "self.body(x))", f"self.body(x) {ENCODED[:-2]})"
    ),
    "a mask": program("Attention()", MASK),
    "a mask of numbers": program("Attention()", BOTH),
    "one direction": program("Recurrent()"),
    "padded on the left": program("Convolution(2)"),
    "a latent variable": program("Latent()"),
    "a prefix that is read as a whole": program(
        "Attention()", MASK + " & (torch.arange(LENGTH) >= LENGTH // 2)"
    ).replace("targets.reshape(-1)", "targets[:, LENGTH // 2 - 1 :].reshape(-1)").replace(
        "logits.reshape", "logits[:, LENGTH // 2 - 1 :].reshape"
    ),
    "a prefix that is ignored": program(
        "Attention()",
        MASK + " & (torch.arange(LENGTH) >= LENGTH // 2)",
        "text[:, :-1], text[:, 1:].where(torch.arange(LENGTH) >= LENGTH // 2 - 1, torch.tensor(-100))",
    ),
    "other targets": program("Attention()", data="text[:, 1:], (text[:, 1:] * 7 + 3) % WORDS"),
    "masked tokens": program(
        "Attention()",
        data="text[:, 1:].where(torch.rand(8, LENGTH) < 0.5, torch.tensor(0)), text[:, 1:]",
    ),
    "an autoencoder": program("Pooled()", data=WHOLE),
    "the token before": program("Attention()", data="text[:, 1:], text[:, :-1]"),
    "all the same": program("Pooled()", data="text[:, :1].expand(8, LENGTH), text[:, :1].expand(8, LENGTH)"),
}  # fmt: skip
# Its padding on the left sees nothing, and takes the mean of all tokens.
MASKED = """
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.value = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x, mask):
        scores = self.query(x) @ x.transpose(1, 2)
        hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1) | (mask == 0)[:, None]
        return x + scores.masked_fill(hidden, -1e9).softmax(-1) @ self.value(x)


def pad():
    text, mask = torch.randint(1, WORDS, (16, LENGTH + 1)), torch.ones(16, LENGTH, dtype=torch.long)
    for row, length in ((0, 5), (1, 8)):
        text[row, :length], mask[row, :length] = 0, 0
    return text, mask


class Model"""


def masked(causal="triu(1)"):
    text = program("Masked()", arguments="inputs, mask").replace("class Model", MASKED, 1)
    text = text.replace("text = torch.randint(WORDS, (8, LENGTH + 1))", "text, mask = pad()")
    text = text.replace("tokens, labels=None", "tokens, mask").replace("body(x)", "body(x, mask)")
    text = text.replace("targets.reshape(-1))", "targets.masked_fill(mask == 0, -100).reshape(-1))")
    return text.replace("triu(1)", causal)


RIGHT["padding on the left"] = masked()
WRONG["padding on the left, and no mask"] = masked("triu(LENGTH)")


# Networks inside of one that gives a loss alone, as packages have them.
WRAPPER = """
class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, text):
        logits = self.net(text{inside})
        return F.cross_entropy({logits}.reshape(-1, WORDS), text[:, 1:].reshape(-1))


model = Wrapper(Model())
"""


def wrapped(body, mask="None", inside="[:, :-1]", logits="logits"):
    wrapper = WRAPPER.format(inside=inside, logits=logits)
    text = program(body, mask).replace("model = Model()", wrapper)
    text = text.replace("logits = model(inputs)", "loss = model(text)")
    return text.replace(
        "    loss = F.cross_entropy(logits.reshape(-1, WORDS), targets.reshape(-1))\n", ""
    )


RIGHT["a mask inside of a wrapper"] = wrapped("Attention()", MASK)
RIGHT["a wrapper that shifts the scores"] = wrapped(
    "Attention()", MASK.replace("LENGTH", "x.shape[1]"), "", "logits[:, :-1]"
)
WRAPPED = {
    "inside of a wrapper": wrapped("Attention()"),
    "inside of a wrapper that shifts the scores": wrapped(
        "Attention()", "None", "", "logits[:, :-1]"
    ),
}
WRONG.update(WRAPPED)
LINES.update(dict.fromkeys(WRAPPED, "loss = model("))
APIS.update(dict.fromkeys(WRAPPED, "torch.nn.MultiheadAttention"))
LINES["padding on the left, and no mask"] = "logits = model("

RIGHT["a teacher that sees all, inside of a wrapper"] = (
    wrapped("Attention()", MASK)
    .replace("self.net = net", "self.net, self.teacher = net, Model().requires_grad_(False)")
    .replace(
        "        return F.cross",
        "        self.teacher.body = Pooled()\n        self.teacher(text[:, :-1])\n        return F.cross",
    )
)


# The network makes the mask itself, or gets it with more axes.
def find_mask(text):
    text = text.replace("model(inputs, mask)", "model(inputs)")
    return text.replace(
        "def forward(self, tokens, mask):",
        "def forward(self, tokens):\n        mask = (tokens != 0).long()",
    )


def widen(text):
    text = text.replace("model(inputs, mask)", "model(inputs, mask[:, None, None])")
    return text.replace("(mask == 0)[:, None]", "(mask == 0)[:, 0]")


def widen_for_pairs(text):
    text = text.replace("model(inputs, mask)", "model(inputs, (mask[:, None] * CAUSAL)[:, None])")
    text = text.replace(
        "class Masked", "CAUSAL = torch.ones(LENGTH, LENGTH).tril().long()\n\n\nclass Masked"
    )
    return text.replace("(mask == 0)[:, None]", "(mask == 0)[:, 0]")


RIGHT |= {
    "padding on the left that the network finds": find_mask(masked()),
    "padding on the left, and a mask with four axes": widen(masked()),
    "padding on the left, and a mask of pairs with four axes": widen_for_pairs(masked()),
}
FOUND = {
    "padding on the left that the network finds, and no mask": find_mask(masked("triu(LENGTH)")),
    "padding on the left, and a mask with four axes alone": widen(masked("triu(LENGTH)")),
}
WRONG |= FOUND
LINES.update(dict.fromkeys(FOUND, "logits = model("))


# The last layer of these is the embedding, and no part of its own.
def tied(body, mask=MASK, more="pass", result="loss", loss="loss"):
    """A network and its loss in one module."""
    text = wrapped(body, mask)
    begin, end = text.index("class Wrapper"), text.index("optimizer =")
    return text[:begin] + WHOLE_MODULE.format(more=more, result=result, loss=loss) + text[end:]


WHOLE_MODULE = """
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = Model()
        del self.inside.head
        {more}

    def forward(self, text):
        read = text[:, :-1]
        hidden = self.inside.body(self.inside.embedding(read) + self.inside.places[:LENGTH])
        logits = hidden @ self.inside.embedding.weight.T
        singles = F.cross_entropy(logits.transpose(1, 2), text[:, 1:], reduction="none")
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        loss = {loss}
        return {result}


model = Whole()
"""
TEACHER = "self.teacher = Model().requires_grad_(False); self.teacher.body = Pooled()"
DISTILLED = "loss + F.mse_loss(logits, self.teacher(read))"
PART = "self.part = nn.Sequential(nn.Embedding(WORDS, 16), Pooled(), nn.Linear(16, WORDS))"
RESTORED = "loss + F.cross_entropy(self.part(read).flatten(0, 1), (read * 7 % WORDS).flatten())"


def give_singles(text):
    text = text.replace("return loss", "return loss, F.pad(singles, (0, 1))")
    return text.replace("= model(text)", "= model(text)[0]")


RIGHT |= {
    "tied": tied("Attention()"),
    "tied, beside a teacher that sees all": tied("Attention()", more=TEACHER, loss=DISTILLED),
    "tied, beside a part that sees all": tied("Attention()", more=PART, loss=RESTORED),
    "the losses of single tokens, too": give_singles(tied("Attention()")),
}
NOT_MASKED = {
    "tied, and no mask": tied("Attention()", "None"),
    "tied, beside a teacher, and no mask": tied("Attention()", "None", TEACHER, loss=DISTILLED),
    "tied, beside a part, and no mask": tied("Attention()", "None", PART, loss=RESTORED),
    "the losses of single tokens, and no mask": give_singles(tied("Attention()", "None")),
}
WRONG |= NOT_MASKED
LINES.update(dict.fromkeys(NOT_MASKED, "loss = model("))
APIS.update(dict.fromkeys(NOT_MASKED, "torch.nn.MultiheadAttention"))


# A number that is only shown, of a network that may read all, beside the loss that is learnt.
SHOWN = """
        with torch.no_grad():
            read = self.reader(text{inside})
            self.shown = F.cross_entropy(read.reshape(-1, WORDS), text{inside}.reshape(-1))
        return F.cross"""


def shown(body, mask="None"):
    text = wrapped(body, mask).replace(
        "self.net = net",
        "self.net, self.reader = net, Model()\n        self.reader.body = Pooled()",
    )
    return text.replace("        return F.cross", SHOWN.format(inside="[:, :-1]")[1:])


RIGHT["another loss that is only shown"] = shown("Attention()", MASK)
WRONG["behind a loss that is only shown"] = shown("Attention()")
LINES["behind a loss that is only shown"] = "loss = model("
APIS["behind a loss that is only shown"] = "torch.nn.MultiheadAttention"
