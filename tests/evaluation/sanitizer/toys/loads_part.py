"""Of `loads-part`: what it accuses, with which parameter, and what it does not."""

NAME = "loads-part"
PROGRAM = """
class Model(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8))
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.norm(self.encoder(x)))


model, kept = Model(), Model()
state = {{name: value.clone() for name, value in kept.state_dict().items()}}


def rename(start, end, old=state):
    names = {{name: end + name[len(start):] if name.startswith(start) else name for name in old}}
    return {{names[name]: value for name, value in old.items()}}


{load}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
OTHER = "other = rename('encoder.', 'encoder._orig_mod.')\n"


def program(load):
    return PROGRAM.format(load=load)


WRONG = {
    "compiled": program(OTHER + "model.load_state_dict(other, strict=False)"),
    "one layer": program(
        "other = rename('head.', 'head.module.')\nmodel.load_state_dict(other, strict=False)"
    ),
    "another name": program(
        "other = rename('encoder.', 'student.encoder.')\nmodel.load_state_dict(other, strict=False)"
    ),
    "a name less": program("model.load_state_dict(rename('encoder.', ''), strict=False)"),
    "wrapped now": program(
        "model.encoder = nn.Sequential()\n"
        "model.encoder.inner = Model().encoder\n"
        "model.load_state_dict(state, strict=False)"
    ),
}
PARAMETERS = {"one layer": "head.weight"}
LINES = {"compiled": "model.load_state_dict(other, strict=False)"}
RIGHT = {
    "all": program("model.load_state_dict(state)"),
    "another head": program(
        "model = Model(3)\ndel state['head.weight'], state['head.bias']\n"
        "model.load_state_dict(state, strict=False)"
    ),
    "a head of another part": program(
        "other = rename('head.', 'aux.head.')\nmodel.load_state_dict(other, strict=False)"
    ),
    "a part": program("model.load_state_dict({'head.weight': state['head.weight']}, strict=False)"),
    "a copy too": program(
        "other = {**state, **{'ema.' + name: value + 1 for name, value in state.items()}}\n"
        "model.load_state_dict(other, strict=False)"
    ),
    "a copy too, without the encoder": program(
        "other = {name: value for name, value in state.items() if 'encoder' not in name}\n"
        "other.update({'teacher.' + name: value + 1 for name, value in state.items()})\n"
        "model.load_state_dict(other, strict=False)"
    ),
    "at the second try": program(
        OTHER + "model.load_state_dict(other, strict=False); model.load_state_dict(state)"
    ),
    "by parts": program(
        OTHER + "model.load_state_dict(other, strict=False)\n"
        "model.encoder.load_state_dict({name[18:]: other[name] for name in other if '_' in name})"
    ),
    "then by hand": program(
        OTHER + "model.load_state_dict(other, strict=False)\nwith torch.no_grad():\n"
        "    for name, value in state.items(): model.get_parameter(name).copy_(value)"
    ),
    "the same": program(
        "model.load_state_dict(state)\n" + OTHER + "model.load_state_dict(other, strict=False)"
    ),
    "fails": program(
        OTHER + "try:\n    model.load_state_dict(other)\nexcept RuntimeError:\n    print('from scratch')"
    ),
    "renamed": program(
        OTHER + "def undo(old, *_):\n"
        "    new = rename('encoder._orig_mod.', 'encoder.', old)\n"
        "    old.clear(); old.update(new)\n"
        "model._register_load_state_dict_pre_hook(undo)\nmodel.load_state_dict(other)"
    ),
}  # fmt: skip
