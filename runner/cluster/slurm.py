"""Workers from Slurm: batch jobs that dask-jobqueue submits, configured by its own
jobqueue.yaml.
"""

import os
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import ProcessError, UsageError
from runner.files.schema_errors import near
from runner.sandbox import process
from runner.sandbox.env import THREADS

# Used where jobqueue.yaml has none. The largest run of the catalogue takes 1 GB, the longest time
# limit is 20 minutes.
DEFAULTS: dict[str, object] = {"name": "trainbugs", "memory": "4GiB", "walltime": "04:00:00"}

# Keys that dask-jobqueue still reads, and no longer documents.
OLDER_KEYS = ("project", "header-skip")


def start(logs: Path | None = None) -> Any:
    """A dask_jobqueue.SLURMCluster, whose scheduler runs in this process; `ask` requests its jobs.

    Raises UsageError where Slurm is not installed or would refuse such a job.
    """
    if shutil.which("sbatch") is None:
        raise UsageError(
            "executor slurm: no sbatch on the PATH; call it on a machine that submits to Slurm"
        )
    cluster = _cluster(logs)
    try:
        _try_out(cluster.job_script())
    except BaseException:
        cluster.close()
        raise
    return cluster


def ask(cluster: Any, jobs: int) -> str | None:
    """Keep `jobs` jobs of one worker each: submit those that are missing, were refused by Slurm, or
    have ended.

    Returns the reason for which Slurm refused one, or None. A job that ended before its worker
    connected is not replaced: the next one would end in the same way.
    """
    refused = {name: job.refused for name, job in cluster.workers.items() if job.refused}
    for name in refused:
        del cluster.workers[name]
    cluster.scale(jobs=jobs)
    return next(iter(refused.values()), None)


def job_script(logs: Path | None = None) -> str:
    """The batch script of a job, except for its number and the address of the scheduler."""
    with _cluster(logs) as cluster:
        return str(cluster.job_script())


def options(logs: Path | None) -> dict[str, object]:
    """Options for dask-jobqueue: the user's own configuration where there is one, but one call at a
    time for each job.

    A job has the processors of one run; the user's `cores` or `job-cpu` may give it more.
    """
    import dask

    configuration = dask.config.collect()
    _refuse_unknown(dask.config.get("jobqueue.slurm", None, config=configuration) or {})

    def user_option(name: str) -> Any:
        return dask.config.get(f"jobqueue.slurm.{name}", None, config=configuration)

    options = {name: value for name, value in DEFAULTS.items() if user_option(name) is None}
    options = {("job_name" if name == "name" else name): value for name, value in options.items()}
    if logs is not None and user_option("log-directory") is None:
        options["log_directory"] = str(logs)
    # Any free port: Dask would take port 8787 for a dashboard, or warn that another scheduler has
    # it.
    options["scheduler_options"] = {"dashboard_address": ":0"} | (
        user_option("scheduler-options") or {}
    )
    return options | {
        "cores": 1,
        "processes": 1,
        "job_cpu": user_option("job-cpu") or user_option("cores") or THREADS,
    }


def _refuse_unknown(configuration: Mapping[str, object]) -> None:
    """Raise UsageError for a key that dask-jobqueue does not know: it would leave the key out in
    silence, and the job would go to another partition, say.
    """
    import dask

    # The defaults of dask-jobqueue name all of its keys, but the older ones.
    known = {*OLDER_KEYS}
    for defaults in dask.config.defaults:
        known |= {*dask.config.get("jobqueue.slurm", {}, config=defaults)}
    if not isinstance(configuration, Mapping):
        raise UsageError("executor slurm: `jobqueue: slurm:` in jobqueue.yaml has no keys")
    for key in configuration:
        name = str(key).replace("_", "-")
        if name not in known:
            raise UsageError(
                f"executor slurm: jobqueue.yaml has {key!r} in `jobqueue: slurm:`, which "
                f"dask-jobqueue does not know{near(name, known)}"
            )


def _cluster(logs: Path | None) -> Any:
    from dask_jobqueue import SLURMCluster

    # Deprecated names in the user's file: dask-jobqueue still understands them, but warns at every
    # job.
    warnings.filterwarnings("ignore", category=FutureWarning, module="dask_jobqueue")
    try:
        return SLURMCluster(job_cls=_job_class(), silence_logs="critical", **options(logs))
    except (ValueError, OSError, RuntimeError) as error:
        raise UsageError(
            f"executor slurm: {str(error).splitlines()[0]}; see jobqueue.yaml"
        ) from error


def _job_class() -> Any:
    from dask_jobqueue.slurm import SLURMJob
    from distributed.core import Status

    class SlurmJob(SLURMJob):  # type: ignore[misc]
        """A job that Slurm may refuse: Dask would log a traceback, never submit it again, and fail
        when it closes.
        """

        refused: str | None = None

        async def start(self) -> None:
            try:
                await super().start()
            except (RuntimeError, ValueError, OSError) as error:
                self.status, self.refused = (
                    Status.failed,
                    process.last_line(str(error)) or "no reason given",
                )

    return SlurmJob


def _try_out(script: str) -> None:
    """Raise UsageError if Slurm would refuse the job: dask-jobqueue would only log it, and no job
    would ever start.
    """
    import dask.utils

    with dask.utils.tmpfile(extension="sh") as path:
        Path(path).write_text(script, encoding="utf-8")
        try:
            process.output(["sbatch", "--test-only", path], env=dict(os.environ))
        except ProcessError as error:
            raise UsageError(f"executor slurm: {error}; see jobqueue.yaml") from error
