"""Of `cut-sample`: what it accuses, and what it does not."""

NAME = "cut-sample"
PROGRAM = """
from torch.distributions import Categorical, Independent, Normal, kl_divergence


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 8), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.value = nn.Linear(8, 1)

    def forward(self, x):
        mean, spread = self.encoder(x).chunk(2, -1)
        distribution = {distribution}
        z = {draw}
        return self.decoder(z), distribution, z


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(8):
    x = torch.randn(32, 8)
    output, distribution, z = model(x)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NORMAL = "Normal(mean, spread.exp())"
BOTH = "F.mse_loss(output, x) + kl_divergence(distribution, Normal(0.0, 1.0)).mean()"


def program(draw, distribution=NORMAL, loss=BOTH):
    return PROGRAM.format(draw=draw, distribution=distribution, loss=loss)


WRONG = {
    "sample": program("distribution.sample()"),
    "of an independent one": program(
        "distribution.sample()",
        "Independent(Normal(mean, spread.exp()), 1)",
        "F.mse_loss(output, x) + (distribution.base_dist.loc ** 2).mean()",
    ),
}
LINES = dict.fromkeys(WRONG, "z = ")
APIS = {"sample": "torch.distributions.Normal.sample"}
RIGHT = {
    "rsample": program("distribution.rsample()"),
    "a policy": program(
        "distribution.sample()",
        loss="-(distribution.log_prob(z).sum(1) * output.detach().sum(1)).mean() + output.mean()",
    ),
    "the decoder alone": program(
        "distribution.sample()",
        "Normal(mean.detach(), spread.detach().exp())",
        "F.mse_loss(output, x)",
    ),
    "a prior": program(
        "Normal(torch.zeros(len(x), 4), 1.0).sample()",
    ),
    "classes": program(
        "F.one_hot(distribution.sample(), 4).float()",
        "Categorical(logits=mean)",
        "F.mse_loss(output, x) - 0.01 * distribution.entropy().mean()",
    ),
}
RIGHT["no other term"] = program("distribution.sample()", loss="F.mse_loss(output, x)").replace(
    "self.encoder, self.decoder = nn.Linear(8, 8)",
    "self.encoder, self.decoder = nn.Linear(8, 8).requires_grad_(False)",
)
