"""What a program cannot reach: other results, environments, the user's files, processes that it did
not start.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.toy import OWN_PYTHON, of_any_length

from runner.errors import EnvironmentBuildError
from runner.sandbox import access, landlock, limits, namespaces, process
from runner.sandbox.access import Access
from runner.sandbox.isolation import VARIABLE, isolation
from runner.sandbox.limits import Limits

# What is refused by Landlock, read-only, or not to be seen.
REFUSED = ("PermissionError", "ReadOnly", "FileNotFoundError")
# Tries each attack, and says what came of it.
ATTEMPT = """
import errno, json, os, shutil, signal, socket, subprocess, sys, tempfile
from pathlib import Path

def attempt(act):
    try:
        act()
    except OSError as error:
        return "ReadOnly" if error.errno == errno.EROFS else type(error).__name__
    except subprocess.CalledProcessError:
        return "failed"
    return "done"

def shell(command):
    subprocess.check_call(command, shell=True, stderr=-3)

"""


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A HOME with a secret, and the folder for temporary files elsewhere."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    return home


def attempts(toy, acts: dict[str, str], **options) -> dict[str, str]:
    """What comes of each act, an expression in Python, when the toy's buggy script does it."""
    lines = [f"acts[{name!r}] = attempt(lambda: {act})" for name, act in acts.items()]
    script = (
        ATTEMPT
        + "acts = {}\n"
        + "\n".join(lines)
        + "\nPath('metrics.json').write_text(json.dumps([acts]))\n"
    )
    toy.write("buggy.py", script)
    of_any_length(toy)
    record = next(r for r in toy.run("Toy-1/only/buggy", seeds=(0,), **options).records)
    assert record.ok, record.reason
    assert (record.runtime.isolated, record.runtime.isolation) == (True, isolation())
    return dict(record.metrics[0])


def test_script_writes_nowhere_but_in_its_own_folders(toy, home, tmp_path, kept_by):
    other = toy.results / "Other-1" / "only" / "buggy-seed0-0.json"
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    site = tmp_path / "environment" / "site-packages"
    site.mkdir(parents=True)
    (site / "adam.py").write_text("x")
    remount = f"mount -o remount,bind,rw {toy.root}; echo x > {other}"
    done = attempts(
        toy,
        {
            "over another record": f"Path({str(other)!r}).write_text('mine')",
            "a new file beside it": f"Path({str(other.parent / 'new')!r}).write_text('mine')",
            "remove it": f"os.unlink({str(other)!r})",
            "rename it": f"os.rename({str(other)!r}, 'here')",
            "link to it": f"os.link({str(other)!r}, 'here')",
            "truncate it": f"os.truncate({str(other)!r}, 0)",
            "the folder of all working directories": "Path('../../x').write_text('x')",
            "the folder of the supervisor": (
                f"Path({str(Path(limits.__file__).parent)!r}, 'x').write_text('x')"
            ),
            "a .pth in an environment": f"Path({str(site / 'evil.pth')!r}).write_text('import os')",
            "an edited module": f"Path({str(site / 'adam.py')!r}).write_text('half')",
            "/tmp": "Path('/tmp/trainbugs-test-of-access').write_text('x')",
            "by a child": (
                f"subprocess.check_call(['cp', '/etc/hostname', {str(other)!r}], stderr=-3)"
            ),
            "another device": "os.open('/dev/kmsg', os.O_WRONLY)",
            "the user's home": f"Path({str(home / 'x')!r}).write_text('x')",
            "made writable again": f"shell({remount!r})",
            "the same as root of a namespace": f"shell('unshare -Urm sh -c \\'{remount}\\'')",
            "what lies below": (
                f"shell('unshare -Urm sh -c \\'umount {toy.root}; echo x > {other}\\'')"
            ),
        },
    )
    assert set(done.values()) <= {*REFUSED, "OSError", "failed"}, done
    assert other.read_text() == "{}"
    assert (site / "adam.py").read_text() == "x"
    assert not (site / "evil.pth").exists()


def test_script_reads_no_file_of_the_user_but_those_of_its_interpreter(toy, home, kept_by):
    done = attempts(
        toy,
        {
            "a secret": f"Path({str(home / 'secret')!r}).read_text()",
            "the list of files": (
                f"os.stat(Path({str(home)!r}, *os.listdir({str(home)!r}) or ['secret']))"
            ),
            "by a child": (
                f"subprocess.check_call(['cat', {str(home / 'secret')!r}], stdout=-3, stderr=-3)"
            ),
            "the system": "Path('/etc/hostname').read_text()",
            "its own home": "Path.home().joinpath('x').write_text('x')",
            "its own folder": (
                "os.rename(Path('a').write_text('x') and 'a', Path(tempfile.mkdtemp(), 'b'))"
            ),
            "shared memory": "Path('/dev/shm/trainbugs-test').write_text('x')",
            "remove it": "os.unlink('/dev/shm/trainbugs-test')",
            "null": "Path('/dev/null').write_text('x')",
            "a socket": "socket.socket(socket.AF_UNIX).bind(tempfile.mktemp())",
            "a program of its own": "subprocess.check_call([sys.executable, '-c', ''])",
        },
    )
    assert {name for name, came in done.items() if came in REFUSED} == {
        "a secret",
        "the list of files",
    }
    assert done.pop("by a child") == "failed"
    assert sum(came == "done" for came in done.values()) == len(done) - 2


def test_script_reaches_no_process_that_it_did_not_start(toy, home, kept_by):
    with subprocess.Popen(["sleep", "60"]) as bystander:
        done = attempts(
            toy,
            {
                "a bystander": f"os.kill({bystander.pid}, signal.SIGTERM)",
                "the runner": f"os.kill({os.getpid()}, 0)",
                "the supervisor": "os.kill(os.getppid(), signal.SIGKILL)",
                "memory of the runner": f"open('/proc/{os.getpid()}/mem', 'rb').read(1)",
                "a child": "os.kill(subprocess.Popen(['sleep', '60']).pid, signal.SIGTERM)",
            },
        )
        assert bystander.poll() is None
        bystander.kill()
    assert done.pop("a child") == "done", done
    if "namespaces" in kept_by:  # the parent is the first process there, which signals do not reach
        expected = "PermissionError" if "landlock" in kept_by else "done"
        assert done.pop("the supervisor") == expected, done
    assert set(done.values()) <= {*REFUSED, "OSError", "ProcessLookupError"}, done


def test_interpreter_in_the_users_home_works_with_packages_installed_in_place(
    toy, home, tmp_path, kept_by
):
    """A virtual environment in HOME, with a package that lies elsewhere in HOME, and data in
    HOME.
    """
    venv, source, data = home / "venv", home / "source", home / "data"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", venv], check=True)
    source.mkdir()
    (source / "inplace.py").write_text("value = 1\n")
    packages = next(venv.glob("lib/python*/site-packages"))
    # As pip does it: a hook that finds the package, and a note of where it is from.
    (packages / "inplace-1.0.dist-info").mkdir()
    origin = {"url": f"file://{source}", "dir_info": {"editable": True}}
    (packages / "inplace-1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin))
    (packages / "finder.py").write_text(
        textwrap.dedent(f"""
        import importlib.machinery
        import sys
        class Finder:
            def find_spec(name, *_):
                return importlib.machinery.PathFinder.find_spec(name, [{str(source)!r}]) if name == "inplace" else None
        sys.meta_path.append(Finder)
        """)
    )
    (packages / "hook.pth").write_text("import finder\n")
    data.mkdir()
    (data / "file").write_text("x")
    done = attempts(
        toy,
        {
            "its package": "__import__('inplace')",
            "its data": f"Path({str(data / 'file')!r}).read_text()",
            "its data, written": f"Path({str(data / 'file')!r}).write_text('y')",
            "another file": f"Path({str(home / 'secret')!r}).read_text()",
        },
        python=venv / "bin" / "python",
        data=data,
    )
    assert [came in REFUSED for came in done.values()] == [False, False, True, True], done


def test_home_above_everything_hides_nothing(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert access.open_access([], []).read[0] == Path("/")


def test_only_what_is_named_can_be_read_where_access_is_closed(tmp_path, kept_by):
    inside, outside, work = (tmp_path / name for name in ("inside", "outside", "work"))
    for folder in (inside, outside, work):
        folder.mkdir()
        (folder / "file").write_text("x")
    folders = [str(inside), str(work), str(outside), namespaces.OUTSIDE + str(outside)]
    code = ATTEMPT + textwrap.dedent(f"""
        reads = [attempt(lambda: Path(folder, "file").read_text()) for folder in {folders}]
        Path("out").write_text(json.dumps(reads))
        """)
    allowed = access.closed_access([work], [inside, *access.own_interpreter()], kept_by)
    done = process.run(
        [sys.executable, "-c", code], cwd=work, env={"PATH": os.environ["PATH"]}, stdout=work / "1", stderr=work / "2",
        timeout_s=30, limits=Limits(access=allowed),
    )  # fmt: skip
    assert done.returncode == 0, (work / "2").read_text()
    came = json.loads((work / "out").read_text())
    assert came[:2] == ["done"] * 2, came
    assert set(came[2:]) <= set(REFUSED), came


def test_old_kernels_are_asked_for_no_more_than_they_know(monkeypatch):
    calls = []

    class Kernel:
        def syscall(self, number, *arguments):
            calls.append((number, arguments))
            return 3

        def prctl(self, *arguments):
            return 0

    monkeypatch.setattr(landlock, "LIBC", Kernel())
    monkeypatch.setattr(os, "close", lambda file: None)
    for abi, size in ((1, 8), (3, 8), (5, 16), (6, 24), (9, 24)):
        monkeypatch.setattr(landlock, "version", lambda abi=abi: abi)
        landlock.restrict([], [])
        number, (attributes, length, _) = calls[-2]
        assert (number, length, len(attributes)) == (landlock.CREATE_RULESET, size, size)
        assert int.from_bytes(attributes[:8], "little").bit_length() == {1: 13, 3: 15}.get(abi, 16)


def test_without_isolation_the_record_says_so(toy, unkept):
    record = toy.run("Toy-1/only/buggy", seeds=(0,)).records[0]
    assert (record.runtime.isolated, record.runtime.isolation) == (False, "none")


def test_failure_to_restrict_starts_nothing(toy, tmp_path, monkeypatch, shared):
    """A kernel that offers Landlock and refuses it: nothing runs without it."""
    folder = tmp_path / "sandbox"
    folder.mkdir()
    for name in ("supervisor.py", "landlock.py", "namespaces.py", "privileges.py", "netns.py"):
        text = Path(limits.__file__).with_name(name).read_text()
        (folder / name).write_text(
            text.replace("RESTRICT_SELF = 444, 445, 446", "RESTRICT_SELF = 444, 445, 9999")
        )
    monkeypatch.setattr(limits, "SUPERVISOR", folder / "supervisor.py")
    with pytest.raises(
        EnvironmentBuildError, match="the program cannot be isolated: Function not implemented"
    ):
        toy.run("Toy-1/only/buggy", seeds=(0,))


def test_paths_with_line_breaks_are_left_out():
    links = (("/f\ng", "/h"), ("/i", "/j"))
    words = list(Access((Path("/a"), Path("/b\nc")), (), (Path("/d\ne"),), links=links).words())
    assert words == [
        "isolation=namespaces+landlock",
        "read=/a",
        "write=",
        "hidden=",
        "links=/i\n/j",
    ]


@pytest.mark.parametrize(
    "version, work, expected",
    [
        (7, True, "namespaces+landlock"),
        (3, True, "namespaces+landlock"),
        (2, True, "namespaces"),
        (2, False, "landlock"),
        (0, True, "namespaces"),
        (0, False, "none"),
    ],
)
def test_strongest_isolation_that_works_is_the_default(monkeypatch, version, work, expected):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr("runner.sandbox.isolation.namespaces_work", lambda: work)
    assert isolation.__wrapped__() == expected


@pytest.mark.parametrize(
    "setting, problem",
    [("firm", "expected namespaces+landlock,"), ("landlock", "does not give it")],
)
def test_isolation_that_there_is_not_is_refused(cli, monkeypatch, setting, problem):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setenv(VARIABLE, setting)
    isolation.cache_clear()
    try:
        status, _, error = cli("run", "Toy-1", *OWN_PYTHON)
    finally:
        isolation.cache_clear()
    assert status == 2
    assert error.count("\n") == 1
    assert problem in error


@pytest.mark.parametrize("kind, line", [("landlock", "weaker isolation"), ("none", "not isolated")])
def test_run_says_once_what_is_weaker(cli, monkeypatch, kind, line):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("runner.sandbox.isolation.namespaces_work", lambda: False)
    if kind == "none":
        monkeypatch.setattr(landlock, "version", lambda: 0)
    isolation.cache_clear()
    try:
        progress = cli("run", "Toy-1", *OWN_PYTHON)[2]
    finally:
        isolation.cache_clear()
    assert progress.count(line) == 1


def test_accelerators_are_among_the_devices_and_no_disk_or_terminal_is(tmp_path):
    """A pretended /dev, as on a machine with two GPUs."""
    expected = (
        "dri",
        "infiniband",
        "kfd",
        "null",
        "nvidia-caps",
        "nvidia-uvm",
        "nvidia0",
        "nvidia1",
        "nvidiactl",
        "shm",
    )
    for name in (*expected, "console", "kmsg", "mem", "ptmx", "pts", "sda", "tty", "tty1", "vda"):
        (tmp_path / name).touch()
    assert tuple(path.name for path in access.devices(tmp_path)) == expected


def test_the_search_path_may_lead_through_a_folder_that_the_user_may_not_enter(
    monkeypatch, tmp_path
):
    closed = tmp_path / "closed"

    def refuse(look):
        def refused(path):
            if path.is_relative_to(closed) and path != closed:
                raise PermissionError(13, "Permission denied", str(path))
            return look(path)

        return refused

    for look in ("readlink", "is_symlink"):
        monkeypatch.setattr(Path, look, refuse(getattr(Path, look)))
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("PATH", f"{closed}/bin:{tmp_path}/link")
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    links = dict(access.open_access([], []).links)
    assert links[f"{tmp_path}/link"] == "real"
    assert not [name for name in links if name.startswith(str(closed))]
