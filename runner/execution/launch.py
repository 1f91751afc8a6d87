"""The start of a bug's program, or of a detector that looks at one: environment variables, limits and streams."""

import site
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runner.environments.spec import cache_root
from runner.execution.run import Run
from runner.sandbox import env, process
from runner.sandbox.env import THREADS
from runner.sandbox.process import Finished


def launch(
    argv: Sequence[str],
    directory: Path,
    run: Run,
    *,
    timeout_s: float,
    extra: Mapping[str, str] | None = None,
    on_wait: Callable[[float], None] = lambda elapsed_s: None,
) -> Finished:
    """Start a program in `directory` with the device, data and limits of `run`, and wait for its end.

    It sees a clean environment, the run's own variables, and the `extra` ones. Its streams become the files stdout
    and stderr of the directory. `on_wait` is called with the seconds elapsed, many times a second. Raises ProcessError
    where the program cannot be started, UsageError where the network cannot be cut.
    """
    return process.run(
        argv,
        cwd=directory,
        env=env.clean_environment(THREADS, variables(run, directory) | dict(extra or {})),
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        timeout_s=timeout_s,
        on_wait=on_wait,
        limits=run.limits,
    )


def variables(run: Run, directory: Path) -> dict[str, str]:
    """Environment variables of this run, in addition to those of every run."""
    data = {"TRAINBUGS_DATA": str(run.data)} if run.data else {}
    # A cache for each run: what inductor has compiled in one run must not make another one faster.
    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(directory / "inductor")}
    # The user's own interpreter keeps its packages from `pip install --user`, although HOME is another folder.
    user = {"PYTHONUSERBASE": site.getuserbase()} if run.runtime.built is None else {}
    downloads = run.case.program.data and run.data is None and run.network
    proxies = env.inherited(env.FOR_DOWNLOADS) if downloads else {}
    gpu = {} if run.gpu is None else {"CUDA_VISIBLE_DEVICES": str(run.gpu)}
    return {"TRAINBUGS_CACHE": str(cache_root()), **inductor, **data, **user, **proxies, **gpu}
