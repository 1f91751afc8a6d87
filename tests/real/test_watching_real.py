"""Watching from inside of a program, by the small wheel, in an environment of another torch than
trainbugs has: a block, a cell of a notebook, tests under pytest, ranks, and the trainers of
Lightning and transformers.

The wheel is installed as a user installs it. The trainers come from the registry, which takes a
minute: only in a full proof.
"""

import subprocess
import sys
import textwrap

import pytest
from support.paths import ROOT

from evaluation.watching import small_wheel
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

pytestmark = pytest.mark.real

FIT = """
    import torch
    from torch import nn

    def fit(model, optimizer, clear):
        for _ in range(5):
            if clear:
                optimizer.zero_grad()
            loss = model(torch.randn(8, 4)).square().mean()
            loss.backward()
            optimizer.step()
"""
BLOCK = """
    import trainbugs_watch
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with trainbugs_watch.watching() as first:
        fit(model, optimizer, clear=False)
    fit(model, optimizer, clear=False)
    optimizer.zero_grad()
    with trainbugs_watch.watching() as second:
        fit(model, optimizer, clear=True)
    print([alarm.code for alarm in first.report.broken], first.report.steps)
    print([alarm.code for alarm in second.report.broken], second.report.steps)
"""
BLOCKS = """
    import trainbugs_watch

    def discard(clamp):
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(6):
            optimizer.zero_grad()
            output = model(torch.randn(8, 4))
            if clamp:
                output.clamp(0, 1)
            output.square().mean().backward()
            optimizer.step()

    for clamp in (True, False, True):
        with trainbugs_watch.watching() as watched:
            discard(clamp)
        print([alarm.code for alarm in watched.report.broken])
"""
TESTS = """
    import pytest

    @pytest.fixture
    def model():
        return nn.Linear(4, 1)

    def sgd(model):
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def test_right(model):
        fit(model, sgd(model), clear=True)

    def test_wrong(model):
        fit(model, sgd(model), clear=False)

    def test_without():
        pass
"""
RANKS = """
    import sys
    import torch.distributed as dist
    import trainbugs_watch
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    wrapped = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    watched = trainbugs_watch.watch(wrapped, optimizer)
    fit(wrapped if "right" in sys.argv else wrapped.module, optimizer, clear=True)
    watched.stop()
    dist.destroy_process_group()
"""
CELLS = """
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    cells = [
        "import torch, trainbugs_watch\\nmodel = torch.nn.Linear(4, 1)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        "with trainbugs_watch.watching() as watched:\\n"
        "    for _ in range(5):\\n"
        "        model(torch.randn(8, 4)).square().mean().backward()\\n"
        "        optimizer.step()",
        "with trainbugs_watch.watching() as silenced:\\n"
        "    for _ in range(5):\\n"
        "        model(torch.randn(8, 4)).square().mean().backward()"
        "  # trainbugs: ignore[stale-gradients]\\n"
        "        optimizer.step()",
        "print(len(silenced.audible.broken))",
        "print(watched.report.broken[0].file, watched.report.broken[0].line)",
    ]
    for cell in cells:
        shell.run_cell(cell, store_history=True)
"""
LIGHTNING = """
    import sys
    import lightning.pytorch as pl
    from torch.utils.data import DataLoader, TensorDataset
    from trainbugs_watch.lightning import WatchCallback

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.automatic_optimization = nn.Linear(4, 3), False

        def training_step(self, batch, index):
            points, labels = batch
            optimizer = self.optimizers()
            if "right" in sys.argv:
                optimizer.zero_grad()
            self.manual_backward(nn.functional.cross_entropy(self.net(points), labels))
            optimizer.step()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = TensorDataset(torch.randn(64, 4), torch.randint(3, (64,)))
    callback = WatchCallback()
    silent = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar"), False)
    trainer = pl.Trainer(max_epochs=2, callbacks=[callback], accelerator="cpu", **silent)
    trainer.fit(Module(), DataLoader(data, 8))
    print([alarm.code for alarm in callback.report.broken], callback.report.steps)
"""
TRAINER = """
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
    from trainbugs_watch.transformers import WatchCallback

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = {"n_layer": 1, "n_head": 2, "n_embd": 16, "vocab_size": 50, "n_positions": 16}
            self.model = GPT2LMHeadModel(GPT2Config(**sizes))

        def forward(self, input_ids, labels):
            logits = self.model(input_ids=input_ids).logits[:, :-1].softmax(-1)
            return {"loss": nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())}

    tokens = torch.randint(50, (64, 16))
    data = [{"input_ids": row, "labels": row.clone()} for row in tokens]
    callback = WatchCallback()
    arguments = TrainingArguments("out", max_steps=10, report_to=[], use_cpu=True, save_strategy="no")
    Trainer(Twice(), arguments, train_dataset=data, callbacks=[callback]).train()
    print([alarm.code for alarm in callback.report.broken], callback.report.steps)
"""


class User:
    """An environment as a user has it, and the programs that run in it."""

    def __init__(self, folder, site_packages):
        self.folder = folder
        self.bin = folder / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        path = small_wheel.build(folder / "dist", ROOT / "detectors" / "sanitizer")
        (site,) = (folder / "environment" / "lib").glob("python*/site-packages")
        (site / "torch.pth").write_text(f"{site_packages}\n")
        self.install(path, "pytest")

    def install(self, *packages):
        subprocess.run([self.bin / "pip", "install", "--quiet", *packages], check=True)

    def run(self, program, *words, by=()):
        """The exit status and what was printed on both streams."""
        path = self.folder / "train.py"
        path.write_text(textwrap.dedent(FIT) + textwrap.dedent(program))
        command = [*(by or [self.bin / "python"]), path, *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    built = builder.obtain(spec.load(ROOT, "torch-2.2.2"), on_stderr())
    (site_packages,) = (built.python.parent.parent / "lib").glob("python*/site-packages")
    return User(tmp_path_factory.mktemp("user"), site_packages)


def test_a_block_is_watched_and_nothing_around_it(user):
    status, out, err = user.run(BLOCK)
    assert (status, out) == (0, "['stale-gradients'] 5\n[] 5\n"), err
    assert "train.py:10" in err
    assert err.endswith("trainbugs: no invariant was broken in 5 steps of 1 optimizer\n")


def test_each_block_is_judged_by_itself(user):
    status, out, err = user.run(BLOCKS)
    assert (status, out) == (0, "['discarded-result']\n[]\n['discarded-result']\n"), err


def test_a_test_fails_whose_training_breaks_an_invariant(user):
    pytest_command = [user.bin / "python", "-m", "pytest", "-p", "no:cacheprovider", "--trainbugs"]
    status, out, _ = user.run(TESTS, by=pytest_command)
    assert status == 1
    assert "1 failed, 2 passed" in out
    assert "tests that train: 2, and break an invariant: 1; tests that train nothing: 1" in out
    assert out.count("WHAT") == 1, "the report is shown once"
    assert "stale-gradients" in out
    status, out, _ = user.run(TESTS, by=pytest_command[:-1])
    assert (status, "trainbugs:" in out) == (0, False)


@pytest.mark.parametrize("words, broken", [(["right"], False), ([], True)])
def test_ranks_are_told_in_one_report(user, words, broken):
    by = [user.bin / "python", "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    status, _, err = user.run(RANKS, *words, by=by)
    assert status == 0, err
    assert err.count("in 5 steps of 1 optimizer on 2 ranks") == 1
    assert ("ranks  error" in err) == broken


def test_the_script_is_watched_as_a_whole_too(user):
    by = [user.bin / "python", "-m", "trainbugs_watch"]
    fit = """
        model = nn.Linear(4, 1)
        fit(model, torch.optim.SGD(model.parameters(), lr=0.1), {})
    """
    assert user.run(fit.format("clear=True"), by=by)[0] == 0
    assert user.run(fit.format("clear=False"), by=by)[0] == 1
    assert user.run("", by=by)[0] == 3
    status, _, err = user.run("raise ValueError('mine')", by=by)
    assert status == 1
    assert err.count("  File ") == 1


WARNS = """
    import pathlib
    torch.optim.SGD([torch.zeros(1)], lr=0.1)
    print(pathlib.Path(__file__).is_absolute())
    first = nn.functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))
    second = nn.functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))
    torch.zeros(3).view(5)
"""


def test_the_script_warns_and_crashes_as_it_does_alone(user):
    status, out, alone = user.run(WARNS)
    assert (status, out, alone.count("Using a target size")) == (1, "True\n", 2)
    status, out, err = user.run(WARNS, by=[user.bin / "python", "-m", "trainbugs_watch"])
    assert (status, out) == (1, "True\n")
    told = [line for line in err.splitlines() if not line.startswith("trainbugs:")]
    assert told == alone.splitlines()


def test_a_name_that_no_invariant_has_is_one_line(user):
    line = "trainbugs: there is no invariant 'clips'; did you mean clip?"
    by = [user.bin / "python", "-m", "trainbugs_watch", "--ignore", "clips"]
    assert user.run("", by=by) == (2, "", f"{line}\n")
    pytest_command = [user.bin / "python", "-m", "pytest", "-p", "no:cacheprovider", "--trainbugs"]
    status, out, _ = user.run(TESTS, by=[*pytest_command, "--trainbugs-ignore", "clips"])
    assert status == 4
    assert out.count("there is no invariant") == 1
    assert line in out


@pytest.mark.parametrize(
    "by, option",
    [(["trainbugs_watch"], "--ignore"), (["pytest", "--trainbugs"], "--trainbugs-ignore")],
)
def test_the_last_column_is_an_option_where_there_is_one(user, by, option):
    wrong = """
        def test_wrong():
            model = nn.Linear(4, 1)
            fit(model, torch.optim.SGD(model.parameters(), lr=0.1), clear=False)

        test_wrong()
    """
    _, out, err = user.run(wrong, by=[user.bin / "python", "-m", *by])
    assert f"  {option} stale-gradients\n" in out + err


@pytest.fixture(scope="module")
def with_libraries(user, request):
    if not request.config.getoption("full_proof"):
        pytest.skip("downloads the trainers: left to the full proof")
    user.install("ipython", "lightning", "transformers<5", "accelerate")
    return user


def test_a_cell_of_a_notebook_has_its_number(with_libraries):
    status, out, err = with_libraries.run(CELLS)
    assert status == 0, err
    assert out.endswith("0\nIn [3] 3\n")


@pytest.mark.parametrize("words, broken", [(["right"], []), ([], ["stale-gradients"])])
def test_lightning(with_libraries, words, broken):
    status, out, err = with_libraries.run(LIGHTNING, *words)
    assert status == 0, err
    assert out.endswith(f"{broken} 16\n")


def test_the_trainer_of_transformers(with_libraries):
    status, out, err = with_libraries.run(TRAINER)
    assert status == 0, err
    assert out.endswith("['probabilities-as-logits'] 10\n")
