"""Of `thawed-parameter`: what it accuses, and what it does not."""

NAME = "thawed-parameter"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model[0].requires_grad_(False)
model(torch.randn(2, 4))
{change}
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
for iteration in range(5):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 2)).backward()
    optimizer.step()
"""
OLD = "old = model[0].weight; "


def program(change):
    return PROGRAM.format(change=change)


WRONG = {
    "an attribute": program(OLD + "model[0].weight = nn.Parameter(old.data.clone())"),
    "registered": program(OLD + "model[0].register_parameter('weight', nn.Parameter(old.data))"),
    "deleted before": program(
        OLD + "del model[0].weight; model[0].weight = nn.Parameter(old.data.clone())"
    ),
    "for all": program(
        "[part.register_parameter(name, nn.Parameter(p.data.clone())) "
        "for part in model for name, p in list(part._parameters.items())]"
    ),
}
PARAMETERS = dict.fromkeys(WRONG, "weight")
APIS = dict.fromkeys(WRONG, "torch.nn.Parameter")
RIGHT = {
    "still frozen": program(
        OLD + "model[0].weight = nn.Parameter(old.data.clone(), requires_grad=False)"
    ),
    "frozen again": program(
        OLD + "model[0].weight = nn.Parameter(old.data.clone()); model[0].requires_grad_(False)"
    ),
    "begun anew": program("model[0].weight = nn.Parameter(torch.randn(8, 4))"),
    "ones": program(
        "model[0].weight.data.fill_(1.0); model[0].weight = nn.Parameter(torch.ones(8, 4))"
    ),
    "made later": program(
        "part = nn.LazyLinear(3); part.weight = nn.UninitializedParameter(requires_grad=False); part(torch.randn(2, 5))"
    ),
    "thawed": program("model[0].requires_grad_(True)"),
    "never frozen": program("model[2].weight = nn.Parameter(model[2].weight.data.clone())"),
    "another layer": program("model[0] = nn.Linear(4, 8)"),
}
