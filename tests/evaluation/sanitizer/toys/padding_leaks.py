"""Of `padding-leaks`: what it accuses, and what it does not."""

NAME = "padding-leaks"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.q, self.k = nn.Embedding(9, 8, padding_idx={padding}), nn.Linear(8, 8), nn.Linear(8, 8)
        self.head = {head}
        with torch.no_grad():
            self.token.weight.mul_(2)

    def forward(self, tokens):
        x, real = self.token(tokens), tokens != 0
        scores = {scores}
        x = x + scores.softmax(2) @ x
        return {output}

model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randint(1, 9, (16, 6)), torch.randint(3, (16,))
for row in range(16):
    x[row, 2 + row % 5 :] = 0
for iteration in range(4):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(x)[..., :3].reshape(16, -1, 3).mean(1), y).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model(x)
"""
SCORES = "(self.q(x) @ self.k(x).transpose(1, 2))"
MASKED = SCORES + ".masked_fill(~real[:, None, :], float('-inf'))"


def program(scores=MASKED, output="self.head(x[:, 0])", head="nn.Linear(8, 3)", padding=0):
    return PROGRAM.format(scores=scores, output=output, head=head, padding=padding)


# Wrong and right masks, for programs that get the mask beside the tokens and for torch's own
# attention.
BESIDE = SCORES + ".masked_fill(given{} == 0, -1e9)"
ENCODER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.head = nn.Embedding(9, 8, padding_idx=0), nn.Linear(8, 3)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(self.layer, 1, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.head(self.encoder(self.token(tokens), src_key_padding_mask=tokens {mask} 0)[:, 0])
"""


def with_mask_beside(place):
    text = program(BESIDE.format(place))
    return text.replace("def forward(self, tokens):", "def forward(self, tokens, given):").replace(
        "model(x)", "model(x, (x != 0).long())"
    )


def encoder(mask):
    # Padding in each text: who attends to nothing but padding has no nan.
    tail = program().partition("return self.head(x[:, 0])\n")[2]
    return ENCODER.format(mask=mask) + tail.replace(
        "for iteration", "x = F.pad(x, (0, 1))\nfor iteration"
    )


def with_added(name, mask):
    """A network that adds what it is given to its scores."""
    text = program(SCORES + f" + (1.0 - {name}[:, None, :].float()) * -1e4")
    return text.replace(
        "def forward(self, tokens):", f"def forward(self, tokens, {name}):"
    ).replace("model(x)", f"model(x, {mask})")


WRONG = {
    "a mask of ones": with_added("attention_mask", "torch.ones_like(x)"),
    "along the queries": program(SCORES + ".masked_fill(~real[:, :, None], -1e4)"),
    "the other way": program(SCORES + ".masked_fill(real[:, None, :], -1e4)"),
    "each place, along the queries": program(
        SCORES + ".masked_fill(~real[:, :, None], -1e4)", output="self.head(x)"
    ),
    "padding that is not zero": program(
        SCORES + ".masked_fill(~real[:, :, None], -1e4)",
        head="nn.Linear(8, 3); nn.init.normal_(self.token.weight)",
    ),
    "one score a place, along the queries": program(
        SCORES + ".masked_fill(~real[:, :, None], -1e4)", output="self.head(x)[..., 0]"
    ),
    "a mask beside, along the queries": with_mask_beside("[:, :, None]"),
    "inverted, in torch's own": encoder("!="),
}
RIGHT = {
    "a mask that is added": with_added("attention_mask", "(x != 0).long()"),
    "no mask, and ones": with_added("kinds", "torch.ones_like(x)"),
    "masked": program(),
    "each place": program(output="self.head(x)"),
    "tied": program(output="x @ self.token.weight.T", head="nn.Identity()"),
    "tied, as probabilities": program(
        output="(x @ self.token.weight.T).log_softmax(2)", head="nn.Identity()"
    ),
    "without a mask": program(SCORES),
    "no padding token": program(SCORES + ".masked_fill(~real[:, :, None], -1e4)", padding=None),
    "one score a place": program(output="self.head(x)[..., 0]"),
    "classes first": program(output="self.head(x).transpose(1, 2)"),
    "places in one row": program(output="self.head(x).flatten(1)"),
    "a place more": program(output="F.pad(self.head(x), (0, 0, 1, 0))"),
    "weights": program(MASKED, output="self.head(x[:, 0]), scores.softmax(2)[:, None]").replace(
        "model(x)[", "model(x)[0]["
    ),
    "a sum of zeros": program(output="self.head(x[:, 0] + read.sum(1))").replace(
        "x = x +", "read, x = x, x +"
    ),
    "a mask beside": with_mask_beside("[:, None, :]"),
    "torch's own": encoder("=="),
}
