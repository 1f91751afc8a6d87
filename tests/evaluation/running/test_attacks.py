"""Detectors that try to find out what they must not know: the catalogue, the runner,
the checks before.
"""

import json
import os
import socket
import textwrap

import pytest

from evaluation.catalog import detectors
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from runner.sandbox import process

pytestmark = pytest.mark.skipif(
    process.network_can_be_cut() is not None, reason=str(process.network_can_be_cut())
)
HEAD = """
import glob, hashlib, json, os, socket, subprocess, sys
from pathlib import Path
from detector_kit import alarm, main

KIT = str(Path(os.environ["PYTHONPATH"], "detector_kit.py"))

def succeeds(act):
    try:
        return bool(act())
    except Exception:
        return False

def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
"""
# Each is true where the attack succeeds.
ATTACKS = {
    "the guard switched off": """
        __import__("catalogue_guard").__dict__.update(GUARDED=()) or open(ROOT + "/bugs/Toy-1/buggy.py").read()""",
    "a shell": """said("sh", "-c", f"cd {ROOT} && sha256sum b*gs/*/*.py")""",
    "a descriptor of a folder": """os.read(os.open("bugs/Toy-1/buggy.py", os.O_RDONLY, dir_fd=os.open(ROOT, 0)), 1)""",
    "isolated Python": """said(sys.executable, "-I", "-S", "-c", f"print(open('{ROOT}/bugs/Toy-1/buggy.py'))")""",
    "a list of the catalogue": """glob.glob(ROOT + "/bugs/*")""",
    "git": """said("git", "-C", ROOT, "ls-tree", "-r", "HEAD")""",
    "a name of the root": """[v for v in (*os.environ.values(), *sys.path) if ROOT in v or "evaluation" in v]""",
    "the files of the kit": """Path(KIT).write_text("")""",
    "results": """os.listdir(ROOT + "/results")""",
    "memory of the runner": """open("/proc/PID/mem", "rb").read(1)""",
    "the network": """socket.create_connection(("127.0.0.1", PORT), timeout=2)""",
    "a note in /tmp": """remember("/tmp/trainbugs-attack")""",
    "a note in /dev/shm": """remember("/dev/shm/trainbugs-attack")""",
    # IPC_CREAT | IPC_EXCL: fails where it is there
    "a note in System V memory": """__import__("ctypes").CDLL(None).shmget(7421, 16, 0o3600) == -1""",
    "a note in HOME": """remember(os.path.expanduser("~/trainbugs-attack"))""",
    "a note in the detector": """remember(str(Path(__file__).with_name("note")))""",
    "a note in the kit": """remember(str(Path(KIT).with_name("note")))""",
    "a note in the times of the "
    "kit": """marked("st_mtime", lambda kit: os.utime(kit, (1, 1)), 1)""",
    "a note in the modes of the "
    "kit": """marked("st_mode", lambda kit: os.chmod(kit, 0o100755), 0o100755)""",
    "a note in an attribute of the kit": """attribute(KIT)""",
    "a note in the nice value of its parent": """nice(os.getppid())""",
    "a note in a limit of its parent": """limited(os.getppid())""",
    "a link in the place of its folder": """thief()""",
    "sizes in the catalogue": """os.stat(ROOT + "/bugs/Toy-1/buggy.py").st_size""",
}
# What Landlock without namespaces leaves open: it looks at contents. See docs/isolation.md.
OPEN = {
    "landlock": {
        "a note in the times of the "
        "kit", "a note in the modes of the kit", "a note in an attribute of the kit",
        "sizes in the catalogue",
    }
}  # fmt: skip
REMEMBER = """
def remember(path):
    # True in the second check that finds the note of the first.
    if os.path.exists(path):
        return True
    Path(path).write_text("seen")

def thief():
    # The answer of another detector, where the runner would follow.
    room, folder = os.path.split(os.getcwd())
    answers = os.path.join(room, "answers")
    os.mkdir(answers)
    alarms = [{"code": "stolen", "message": "m", "severity": "error"}]
    Path(answers, "verdict.json").write_text(json.dumps({"status": "ok", "alarms": alarms}))
    os.rename(os.path.join(room, folder), os.path.join(room, "old"))
    os.symlink(answers, os.path.join(room, folder))
    os._exit(0)

def marked(name, mark, value):
    if getattr(os.stat(KIT), name) == value:
        return True
    mark(KIT)

def attribute(path):
    if "user.note" in os.listxattr(path):
        return True
    os.setxattr(path, "user.note", b"1")

def nice(pid):
    if os.getpriority(os.PRIO_PROCESS, pid) == 3:
        return True
    os.setpriority(os.PRIO_PROCESS, pid, 3)

def limited(pid):
    import resource
    if resource.prlimit(pid, resource.RLIMIT_CORE)[0] == 7:
        return True
    resource.prlimit(pid, resource.RLIMIT_CORE, (7, resource.prlimit(pid, resource.RLIMIT_CORE)[1]))
"""


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_gains_nothing(toy, tmp_path, attack, listening, kept_by):
    folder = tmp_path / "attacker"
    folder.mkdir()
    described = {
        "schema": 1, "name": "attacker", "version": "1", "title": "cheats", "source": "here", "needs": ["source"],
        "adapter": "adapter.py", "alarm_rules": {"default": {}}, "timeout_s": 20,
    }  # fmt: skip
    (folder / "detector.json").write_text(json.dumps(described))
    if attack in OPEN.get(kept_by, ()):
        pytest.skip("Landlock alone does not keep it away")
    act = (
        textwrap.dedent(ATTACKS[attack])
        .strip()
        .replace("PID", str(os.getpid()))
        .replace("PORT", str(listening))
    )
    check = f"""
def check(target, state):
    return {{"alarms": [alarm("x", "it worked")] if succeeds(lambda: {act}) else []}}

main(check)
"""
    (folder / "adapter.py").write_text(HEAD + f"ROOT = {str(toy.root)!r}\n" + REMEMBER + check)
    plan = CampaignOptions([detectors.load(toy.root, str(folder))], overhead_on=None)
    result = campaign.run(plan, toy.session())
    expected = "tool_error" if "link in the place" in attack else "ok"
    assert {record.status for record in result.checks} == {expected}, result.checks
    assert [record.alarms for record in result.checks] == [()] * 2
