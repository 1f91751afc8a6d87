"""Slurm: the job script always; a real Slurm of this one machine where its programs are
installed.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.clusters import configuration, lines, note, until  # noqa: F401 - a fixture
from support.paths import ROOT

from runner.cluster import client
from runner.cluster.client import connect
from runner.errors import UsageError

pytestmark = pytest.mark.stress

os.environ["PATH"] += ":/usr/sbin"
MISSING = [
    name
    for name in ("munged", "slurmctld", "slurmd", "sbatch", "scancel")
    if shutil.which(name) is None
]
# One node that says it has four processors; no cgroups, no accounts, no data base.
CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
"""
REFUSES = """\
#!/bin/sh
[ $1 = --test-only ] && exit 0
echo asked >> {log}
echo 'sbatch: too many jobs' >&2
exit 1
"""
SCRIPT = """
import sys
from pathlib import Path
from runner.cluster import slurm
print(slurm.job_script(Path(sys.argv[1])))
"""

SMALL = {"name": "trainbugs", "memory": "400MiB", "walltime": "00:10:00"}


def job_script(tmp_path, config):
    """The script in a process of its own: Dask reads its configuration when it is imported."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jobqueue.yaml").write_text(config)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path / "logs")],
        env=os.environ | {"DASK_CONFIG": str(tmp_path / "config")}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_the_job_script_where_the_user_says_nothing(tmp_path):
    script = job_script(tmp_path, "jobqueue:\n  slurm:\n    # all left out\n    queue: null\n")
    for line in ("-J trainbugs", "-n 1", "--cpus-per-task=2", "--mem=4G", "-t 04:00:00"):
        assert f"#SBATCH {line}\n" in script
    assert f"#SBATCH -o {tmp_path}/logs/trainbugs-%J.out\n" in script
    assert f"{sys.executable} -m distributed.cli.dask_worker tcp://" in script
    assert " --nthreads 1 " in script
    assert "--nworkers" not in script


def test_the_job_script_takes_what_the_user_says(tmp_path):
    script = job_script(
        tmp_path,
        "jobqueue:\n  slurm:\n    cores: 24\n    processes: 4\n    memory: 8GiB\n    walltime: "
        "'00:10:00'\n    queue: gpu\n    account: lab\n    name: mine\n    log-directory: /tmp\n   "
        " python: /opt/python\n    job-extra: ['--gres=gpu:1']\n",
    )
    for line in (
        "-J mine",
        "--cpus-per-task=24",
        "--mem=8G",
        "-t 00:10:00",
        "-p gpu",
        "-A lab",
        "--gres=gpu:1",
    ):
        assert f"#SBATCH {line}\n" in script
    assert "#SBATCH -o /tmp/mine-%J.out\n" in script
    assert "/opt/python -m distributed.cli.dask_worker tcp://" in script
    assert " --nthreads 1 " in script, "one call at a time, whatever is configured"
    assert "--nworkers" not in script, "one call at a time, whatever is configured"


def test_a_misspelt_key_is_refused(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        job_script(tmp_path, "jobqueue:\n  slurm:\n    que: gpu\n")
    assert (
        "UsageError: executor slurm: jobqueue.yaml has 'que' in `jobqueue: slurm:`, which "
        "dask-jobqueue does not know (did you mean queue?)"
    ) in refused.value.stderr


def test_no_slurm_here(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="executor slurm: no sbatch on the PATH"):
        connect("slurm", 2)


def test_a_slurm_that_takes_no_jobs(tmp_path, monkeypatch, capfd):
    (tmp_path / "sbatch").write_text(REFUSES.format(log=tmp_path / "asked"))
    monkeypatch.setattr(client, "ASK_S", 0.5)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(client, "PATIENCE_S", 0.5)
    with connect("slurm", 2, tmp_path) as workers:
        workers.submit(note, str(tmp_path), 1, 0)
        until(lambda: len(lines(tmp_path / "asked")) >= 4)
        until(lambda: "sbatch: too many jobs" in (workers.trouble() or ""))
        assert re.fullmatch(
            r"Slurm: no worker has joined for \d+ s \(sbatch: too many jobs\); `squeue --me` may .*",
            workers.trouble(),
        )
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def slurm(tmp_path_factory, monkeypatch):
    """A Slurm of one node, which is this machine."""
    if MISSING or os.geteuid():
        pytest.skip(f"a real Slurm needs {', '.join(MISSING) or 'to be started by root'}")
    folder, host = tmp_path_factory.mktemp("slurm"), socket.gethostname().partition(".")[0]
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o755)
    (folder / "munge" / "key").write_bytes(os.urandom(128))
    (folder / "munge" / "key").chmod(0o400)
    (folder / "slurm.conf").write_text(CONF.format(host=host, folder=folder, ports=free_ports()))
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    munge = [f"--{name}-file={folder}/munge/{name}" for name in ("key", "pid", "log", "seed")]
    munge = ["munged", "-F", "--force", f"--socket={folder}/munge/socket", *munge]
    daemons = []
    try:
        for argv in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            with (folder / f"{argv[0]}.out").open("wb") as out:
                daemons.append(
                    subprocess.Popen(argv, stdout=out, stderr=out, start_new_session=True)
                )
            until((folder / "munge" / "socket").exists)
        until(lambda: "idle" in tell("sinfo", "-h", "-o", "%T"))
        yield folder
        tell("scancel", "--user=root")
        until(lambda: not jobs(), 15)
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(timeout=15)


def free_ports():
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def tell(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def jobs():
    return tell("squeue", "-h", "-o", "%i").split()


@pytest.mark.stress
def test_a_real_slurm_whose_job_is_cancelled(slurm, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'tests'}")
    monkeypatch.setattr("runner.cluster.slurm.DEFAULTS", SMALL)
    monkeypatch.setattr(client, "ASK_S", 1)
    with connect("slurm", 2, tmp_path / "logs") as workers:
        until(lambda: workers.threads == 2)
        first = jobs()
        futures = [workers.submit(note, str(tmp_path), number, 0.3) for number in range(60)]
        until(lambda: len(lines(tmp_path / "ended")) > 10)
        tell("scancel", first[0])
        assert [future.result(timeout=60) for future in futures] == [
            number * number for number in range(60)
        ]
        until(lambda: workers.threads == 2)
        assert set(jobs()) - set(first), "no job came in the place of the cancelled one"
    assert len(lines(tmp_path / "ended")) <= 61
    until(lambda: not jobs(), 15)
    assert list((tmp_path / "logs").glob("trainbugs-*.err"))
    assert capfd.readouterr() == ("", "")


@pytest.mark.stress
def test_bugs_are_run_by_a_real_slurm(slurm, toy, cli, monkeypatch):
    monkeypatch.setattr("runner.cluster.slurm.DEFAULTS", SMALL)
    status, out, err = cli(
        "run", "Toy-1", "--executor", "slurm", "-j", "2", "--python", sys.executable
    )
    assert status == 0, err
    assert out.splitlines()[1].split()[:3] == ["Toy-1/only", "REPRODUCED", "4"], err
    assert list(Path("results/slurm").glob("trainbugs-*.err"))
    until(lambda: not jobs(), 15)


@pytest.mark.stress
def test_what_a_real_slurm_refuses(slurm, monkeypatch, capfd):
    monkeypatch.setattr("runner.cluster.slurm.DEFAULTS", {"memory": "400MiB", "queue": "none"})
    with pytest.raises(
        UsageError, match="executor slurm: sbatch: .*partition.*; see jobqueue.yaml"
    ):
        connect("slurm", 2)
    assert not jobs()
    assert capfd.readouterr() == ("", "")
