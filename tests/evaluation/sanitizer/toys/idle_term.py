"""Of `idle-term`: what it accuses, and what it does not."""

NAME = "idle-term"
PROGRAM = """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        features = self.body(x).relu()
        return self.head(features), features


maker, critic = nn.Linear(3, 4), Critic()
weight = nn.Parameter(torch.zeros(1))
makers = torch.optim.Adam(maker.parameters(), lr=1e-3)
critics = torch.optim.Adam(critic.parameters(), lr=1e-3)
for iteration in range({steps}):
    real, noise = torch.randn(8, 4) + 1, torch.randn(8, 3)
    fake = maker(noise)
    critics.zero_grad()
    right, real_features = critic(real)
    wrong, cut_features = critic(fake.detach())
    (F.softplus(-right).mean() + F.softplus(wrong).mean()).backward()
    critics.step()
    {update}
"""
UPDATE = """makers.zero_grad()
    judged, features = critic(fake)
    {loss}
    loss.backward()
    makers.step()"""


def program(loss, steps=30, update=UPDATE):
    return PROGRAM.format(update=update.format(loss=loss), steps=steps)


ADVERSARIAL = "F.softplus(-judged).mean()"
CUT = "F.mse_loss(critic(fake.detach())[1], critic(real)[1].detach())"
ADVISED = {
    "features of a detached one": program(f"loss = {ADVERSARIAL} + {CUT}"),
    "weighted": program(f"loss = {ADVERSARIAL} + 10 * {CUT}"),
    "three terms": program(f"loss = {ADVERSARIAL} + features.square().mean() + {CUT}"),
}
# Of these not even advice is given.
SILENT = True
RIGHT = {
    "features of what was made": program(
        f"loss = {ADVERSARIAL} + F.mse_loss(features, critic(real)[1].detach())"
    ),
    "few steps": program(f"loss = {ADVERSARIAL} + {CUT}", steps=12),
    "used from time to time": program(
        f"loss = {ADVERSARIAL} + {CUT}\n    iteration % 9 or critics.zero_grad()",
        update=UPDATE + "\n    iteration % 9 or critics.step()",
    ),
    "read by hand": program(f"loss = {ADVERSARIAL} + (weight - 1).square().sum()"),
    "one optimizer of both": program(
        f"loss = {ADVERSARIAL} + {CUT}",
        update=UPDATE.replace(
            "makers.zero_grad()", "makers.zero_grad(); critics.zero_grad()"
        ).replace("makers.step()", "makers.step(); critics.step()"),
    ),
    "accumulated": program(
        f"loss = {ADVERSARIAL} + features.square().mean()",
        update=UPDATE.replace("makers.zero_grad()", "iteration % 4 or makers.zero_grad()").replace(
            "makers.step()", "iteration % 4 == 3 and makers.step()"
        ),
    ),
}
