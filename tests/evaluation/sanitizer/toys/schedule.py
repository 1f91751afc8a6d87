"""Toys of `schedule`: what it accuses, in which iteration, and what it does not."""

NAME = "schedule"

RESUMED = """
from torch.optim import lr_scheduler
def begin():
    model = nn.Linear(2, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)
def train(model, optimizer, scheduler):
    for iteration in range(4):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        scheduler.step()
def make(optimizer):
    return {make}
model, optimizer = begin()
scheduler = make(optimizer)
train(model, optimizer, scheduler)
saved, place = optimizer.state_dict(), scheduler.state_dict()
del model, optimizer, scheduler
model, optimizer = begin()
{load}
train(model, optimizer, scheduler)
"""
ONE = """
from torch.optim import lr_scheduler
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
{before}
scheduler = {make}
for iteration in range(1, 13):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    {step}
"""
PHASES = """
from torch.optim import lr_scheduler
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for phase in range(2):
    scheduler = {second} if phase else lr_scheduler.StepLR(optimizer, 2)
    for iteration in range(5):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        {step}
"""
STEP = "optimizer.step(); scheduler.step()"
STEPS = "lr_scheduler.StepLR(optimizer, 2)"
COSINE = "lr_scheduler.CosineAnnealingLR(optimizer, 5)"
LINEAR = "lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)"
WARM = f"lr_scheduler.SequentialLR(optimizer, [{LINEAR}, {COSINE}], [3])"
RATE = "optimizer.param_groups[0]['lr']"
ADD_GROUP = "optimizer.add_param_group({'params': [nn.Parameter(torch.ones(1))]})"


def resumed(load, make=STEPS):
    return RESUMED.format(load="\n".join(load.split("; ")), make=make)


def phases(second, step=STEP):
    return PHASES.format(second=second, step=step)


def scheduled(make=COSINE, step=STEP, before="", rate="0.1"):
    return ONE.format(make=make, step=step, before=before, rate=rate)


MADE = "scheduler = make(optimizer)"
OPTIMIZER = "optimizer.load_state_dict(saved)"
PLACE = "scheduler.load_state_dict(place)"
LATE = f"{OPTIMIZER}; {MADE}; {PLACE}"
ASTRAY = "bare, wrong = lr_scheduler.CosineAnnealingLR.get_lr, lambda self: [0.05]"
FAULTS = {
    "made after the optimizer was loaded": (5, resumed(LATE, LINEAR)),
    "a sequence": (5, resumed(LATE, WARM)),
    "a milestone at 0": (1, scheduled(WARM.replace("[3]", "[0]"))),
    "a formula that goes astray": (5, scheduled(step=f"{STEP}; lr_scheduler.CosineAnnealingLR.get_lr = "
                                          "wrong if iteration == 3 else bare", before=ASTRAY)),
    "a second phase that goes "
    "astray": (8, phases(WARM, f"{STEP}; phase and iteration == 0 and setattr("
                                                  "scheduler._schedulers[0], 'get_lr', lambda: [0.05])")),
}  # fmt: skip
RIGHT = {
    "a second phase from the present rate": phases(COSINE),
    "a second phase of a sequence": phases(WARM),
    "both loaded": resumed(f"{MADE}; {OPTIMIZER}; {PLACE}"),
    "both loaded, the scheduler first": resumed(f"{MADE}; {PLACE}; {OPTIMIZER}"),
    "a sequence loaded": resumed(f"{MADE}; {OPTIMIZER}; {PLACE}", WARM),
    "a new schedule": resumed(f"{OPTIMIZER}; {MADE}", LINEAR),
    "steps made late, which leave the rate": resumed(LATE),
    "mended by hand": resumed(f"{LATE}; {RATE} = scheduler.get_last_lr()[0]", LINEAR),
    "another rate by hand": resumed(f"{OPTIMIZER}; {MADE}; {RATE} = 0.5; {PLACE}", LINEAR),
    "the optimizer again": resumed(f"{LATE}; {OPTIMIZER}", LINEAR),
    "cosine": scheduled(),
    "cosine in a tensor": scheduled(rate="torch.tensor(0.1)"),
    "steps": scheduled(STEPS),
    "milestones": scheduled("lr_scheduler.MultiStepLR(optimizer, [2, 4])"),
    "linear": scheduled(LINEAR),
    "exponential": scheduled("lr_scheduler.ExponentialLR(optimizer, 0.5)"),
    "polynomial": scheduled("lr_scheduler.PolynomialLR(optimizer, 4, 2.0)"),
    "constant": scheduled("lr_scheduler.ConstantLR(optimizer)"),
    "warm-up": scheduled(WARM),
    "lambda": scheduled("lr_scheduler.LambdaLR(optimizer, lambda step: 0.9 ** step)"),
    "one cycle": scheduled("lr_scheduler.OneCycleLR(optimizer, 0.1, 20)"),
    "plateau": scheduled("lr_scheduler.ReduceLROnPlateau(optimizer)", "optimizer.step(); scheduler.step(1.0)"),
    "chained": scheduled(f"lr_scheduler.ChainedScheduler([{LINEAR}, {COSINE}])"),
    "two": scheduled(step=STEP + "; other.step()", before=f"other = {STEPS}"),
    "edited by hand": scheduled(step=f"{RATE} *= 0.9; {STEP}"),
    "edited before": scheduled(step=f"{RATE} = {RATE} if iteration > 1 else 0.5; {STEP}"),
    "another place by hand": scheduled(step=f"scheduler.last_epoch += iteration == 2; {STEP}"),
    "another constant": scheduled(step=f"scheduler.T_max += iteration == 2; {STEP}"),
    "by epoch": scheduled(step="optimizer.step(); scheduler.step(iteration // 2)"),
    "another group": scheduled(STEPS, step=f"iteration == 3 and {ADD_GROUP}; {STEP}"),
    "begun in the middle": scheduled("lr_scheduler.CosineAnnealingLR(optimizer, 5, last_epoch=2)",
                               before="optimizer.param_groups[0]['initial_lr'] = 0.1"),
    "of the user": scheduled("Own(optimizer, 5)", before="class Own(lr_scheduler.CosineAnnealingLR):\n    "
                       "def get_lr(self):\n        return [0.3]"),
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
