"""The revision of a bug or a detector: what git would say, though nothing of a repository's
configuration is heard.
"""

import os
import shutil
import threading
from pathlib import Path

import pytest
from support.detectors import write_detector
from support.paths import ROOT
from support.repositories import commit, git, repository

from evaluation.catalog import detectors
from runner.results import git_checkout
from runner.results.revision import NOT_RUN, find_revision


def write(path, text="x\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def relink(bug):
    (bug / "link").unlink()
    (bug / "link").symlink_to("notes/deep.py")


def nest(bug):
    write(bug / "inner" / "a.py")
    git(bug / "inner", "init", "-q")
    commit(bug / "inner")


# What happens to the folder after its commit, and whether git calls that a change of what is run.
CHANGES = {
    "nothing": (lambda bug: None, False),
    "touched": (lambda bug: os.utime(bug / "buggy.py"), False),
    "modified": (lambda bug: write(bug / "buggy.py", "print(7)\n"), True),
    "modified deep": (lambda bug: write(bug / "notes" / "deep.py"), True),
    "removed": (lambda bug: (bug / "buggy.py").unlink(), True),
    "folder removed": (lambda bug: shutil.rmtree(bug / "notes"), True),
    "executable": (lambda bug: (bug / "buggy.py").chmod(0o755), True),
    "not executable": (lambda bug: (bug / "tool.sh").chmod(0o644), True),
    "other link": (relink, True),
    "link became a file": (lambda bug: ((bug / "link").unlink(), write(bug / "link")), True),
    "new file": (lambda bug: write(bug / "new.py"), True),
    "new folder": (lambda bug: write(bug / "more" / "new.py"), True),
    "new link": (lambda bug: (bug / "another").symlink_to("/nowhere"), True),
    "new repository": (nest, True),
    "empty folder": (lambda bug: (bug / "empty").mkdir(), False),
    "pipe": (lambda bug: os.mkfifo(bug / "pipe"), False),
    "ignored folder": (lambda bug: write(bug / "__pycache__" / "a.pyc"), False),
    "ignored file": (lambda bug: write(bug / "notes" / "a.tmp"), False),
    "ignored here": (
        lambda bug: (write(bug / "more" / ".gitignore", "*"), write(bug / "more" / "b.py")),
        False,
    ),
    "ignored for this clone": (lambda bug: write(bug / "b.mine"), False),
    "wanted though ignored": (
        lambda bug: (write(bug / "b.tmp"), write(bug / ".gitignore", "!b.tmp\n")),
        True,
    ),
    "not run": (lambda bug: (write(bug / "README.md"), write(bug / "expected" / "a.json")), False),
    "not run, elsewhere": (lambda bug: write(bug / "notes" / "README.md"), True),
    "made": (lambda bug: (write(bug / "a.csv"), write(bug / "more" / "b.csv")), False),
    "beside the folder": (lambda bug: write(bug.parent / "beside.py"), False),
}
PATTERNS = (*NOT_RUN, "*.csv")


@pytest.fixture
def bug(tmp_path):
    """A committed folder of a repository."""
    folder = repository(tmp_path / "repo")
    (folder / "link").symlink_to("buggy.py")
    write(folder / "tool.sh")
    (folder / "tool.sh").chmod(0o755)
    write(folder / "README.md", "# it\n")
    write(folder.parent / ".git" / "info" / "exclude", "*.mine\n")
    commit(folder.parent)
    return folder


def answer_of_git(directory, not_run):
    """The revision as git itself tells it."""
    changed = git(directory, "status", "--porcelain", "--", ".", *(f":!{name}" for name in not_run))
    return git(directory, "rev-parse", "HEAD") + ("-dirty" if changed else "")


@pytest.mark.parametrize("name", CHANGES)
def test_the_answer_is_the_one_of_git(bug, name):
    change, dirty = CHANGES[name]
    change(bug)
    answer = find_revision(bug, PATTERNS)
    assert answer == answer_of_git(bug, PATTERNS)
    assert answer.endswith("-dirty") == dirty


def test_executable_bits_count_for_nothing_where_the_file_system_has_none(bug):
    (bug / "buggy.py").chmod(0o755)
    git(bug, "config", "core.fileMode", "false")
    assert find_revision(bug) == answer_of_git(bug, NOT_RUN)
    assert not find_revision(bug).endswith("-dirty")


def test_a_folder_that_is_not_committed_is_dirty_unless_it_is_ignored(bug):
    write(bug.parent / "mine" / "buggy.py")
    write(bug.parent / "__pycache__" / "buggy.py")
    assert find_revision(bug.parent / "mine") == git(bug, "rev-parse", "HEAD") + "-dirty"
    assert find_revision(bug.parent / "__pycache__") == git(bug, "rev-parse", "HEAD")


def test_a_whole_repository_has_a_revision_too(bug):
    assert find_revision(bug.parent, ()) == git(bug, "rev-parse", "HEAD")
    write(bug / "expected" / "a.json")
    assert find_revision(bug.parent, ()) == git(bug, "rev-parse", "HEAD") + "-dirty"


def packed(bug, tmp_path):
    """Everything is in one pack, long files as deltas, and the references in one file."""
    for number in range(30):
        write(bug / "long.py", "".join(f"value = {line}\n" for line in range(2_000 + number)))
        write(bug / "many" / f"{number}.py", f"{number}\n")
        commit(bug.parent)
    git(bug, "gc", "-q", "--aggressive", "--prune=now")
    git(bug, "pack-refs", "--all")
    assert not list((bug.parent / ".git" / "refs" / "heads").iterdir())
    return bug


def detached(bug, tmp_path):
    git(bug, "checkout", "-q", "--detach")
    return bug


def work_tree(bug, tmp_path):
    git(bug, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other/branch")
    return tmp_path / "tree" / "bug"


def borrowing(bug, tmp_path):
    git(tmp_path, "clone", "-q", "--shared", str(bug.parent), "borrowing")
    return tmp_path / "borrowing" / "bug"


def with_submodule(bug, tmp_path):
    other = repository(tmp_path / "other")
    git(bug.parent, "submodule", "add", "-q", str(other.parent), "bug/module")
    commit(bug.parent)
    return bug


def submodule_settings(bug, tmp_path):
    return with_submodule(bug, tmp_path) / "module" / "bug"


def shallow(bug, tmp_path):
    commit(bug.parent)
    git(tmp_path, "clone", "-q", "--depth", "1", bug.parent.as_uri(), "shallow")
    return tmp_path / "shallow" / "bug"


def other_hash(bug, tmp_path):
    return repository(tmp_path / "other", "--object-format=sha256")


@pytest.mark.parametrize(
    "kind", [packed, detached, work_tree, borrowing, with_submodule, submodule_settings, shallow, other_hash]
)  # fmt: skip
def test_all_ways_in_which_git_keeps_a_repository_are_read(bug, tmp_path, kind):
    directory = kind(bug, tmp_path)
    assert find_revision(directory) == git(directory, "rev-parse", "HEAD")
    write(directory / "buggy.py", "print(8)\n")
    assert find_revision(directory) == git(directory, "rev-parse", "HEAD") + "-dirty"


def test_a_submodule_that_was_changed_or_moved_on_is_a_change(bug, tmp_path):
    directory = with_submodule(bug, tmp_path)
    module = directory / "module"
    write(module / "bug" / "buggy.py", "print(9)\n")
    assert find_revision(directory).endswith("-dirty")
    commit(module)
    assert find_revision(directory).endswith("-dirty")
    git(directory, "submodule", "update", "-q", "--force")
    assert not find_revision(directory).endswith("-dirty")
    git(directory, "submodule", "deinit", "-q", "--force", "module")
    assert not find_revision(directory).endswith("-dirty")


def test_a_repository_that_was_added_without_being_a_submodule_is_looked_into(bug):
    nest(bug)
    commit(bug.parent)
    assert find_revision(bug) == git(bug, "rev-parse", "HEAD")
    write(bug / "inner" / "a.py", "changed\n")
    assert find_revision(bug) == git(bug, "rev-parse", "HEAD") + "-dirty"


def no_commit(bug):
    shutil.rmtree(bug.parent / ".git")
    git(bug.parent, "init", "-q")


def no_repository(bug):
    shutil.rmtree(bug.parent / ".git")


def unknown_references(bug):
    write(bug.parent / ".git" / "HEAD", "ref: refs/heads/.invalid\n")


def reference_that_leads_out(bug):
    write(bug.parent.parent / "secret", git(bug, "rev-parse", "HEAD"))
    write(bug.parent / ".git" / "HEAD", "ref: refs/../../../secret\n")


def pipe_as_head(bug):
    (bug.parent / ".git" / "HEAD").unlink()
    os.mkfifo(bug.parent / ".git" / "HEAD")


def pipe_as_alternates(bug):
    os.mkfifo(bug.parent / ".git" / "objects" / "info" / "alternates")


def pipe_as_pack(bug):
    git(bug, "gc", "-q")
    index = next((bug.parent / ".git" / "objects" / "pack").glob("*.idx"))
    index.unlink()
    os.mkfifo(index)


def pipe_as_ignored_names(bug):
    write(bug / "new.py")
    os.mkfifo(bug / ".gitignore")


def borrows_from_itself(bug):
    objects = bug.parent / ".git" / "objects"
    write(objects / "info" / "alternates", f"{objects}\n")
    shutil.rmtree(next(objects.glob("??")))
    for folder in objects.glob("??"):
        shutil.rmtree(folder)


def other_contents(bug):
    """A tree under the name of another one: the commit does not hold it."""
    names = [git(bug, "rev-parse", word) for word in ("HEAD^{tree}", "HEAD:bug")]
    paths = [bug.parent / ".git" / "objects" / name[:2] / name[2:] for name in names]
    paths[0].chmod(0o644)
    paths[0].write_bytes(paths[1].read_bytes())


def damaged(bug):
    name = git(bug, "rev-parse", "HEAD")
    path = bug.parent / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(b"\x78\x9c nothing")


ODD = [
    no_commit, no_repository, unknown_references, reference_that_leads_out, pipe_as_head, pipe_as_alternates,
    pipe_as_pack, pipe_as_ignored_names, borrows_from_itself, other_contents, damaged,
]  # fmt: skip


@pytest.mark.parametrize("change", ODD)
def test_a_repository_that_is_odd_has_no_revision_at_once(bug, change, monkeypatch):
    """Git waits for some of them without an end, and is not waited for."""
    monkeypatch.setattr(git_checkout, "PATIENCE_S", 1)
    change(bug)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(find_revision(bug)), daemon=True)
    thread.start()
    thread.join(8)
    assert answers == [None]


@pytest.fixture
def mark(tmp_path):
    """A file that a stranger's program makes where it is executed, and the path of that program."""
    program = tmp_path / "e.sh"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/executed'\ncat\nfalse\n")
    program.chmod(0o755)
    return tmp_path / "executed", program


# Configurations that can execute a program, in which {e} is its path.
KEYS = {
    "fsmonitor": "[core]\nfsmonitor = {e}\n",
    "hooks": "[core]\nhooksPath = {hooks}\n",
    "filter that cleans": '[filter "x"]\nclean = {e}\n',
    "filter that is a process": '[filter "x"]\nprocess = {e}\nrequired = true\n',
    "filter that smudges": '[filter "x"]\nsmudge = {e}\n',
    "textconv": '[diff "x"]\ntextconv = {e}\n[core]\nattributesFile = {attributes}\n',
    "external diff": "[diff]\nexternal = {e}\n",
    "pager": "[core]\npager = {e}\n[pager]\nstatus = {e}\nls-files = {e}\n",
    "alias": "[alias]\nstatus = !{e}\nls-files = !{e}\n",
    "ssh of a promisor": (
        "[core]\nsshCommand = {e}\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n"
        '[remote "origin"]\nurl = ssh://localhost/x\npromisor = true\n'
    ),
    "ext of a promisor": (
        "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n[protocol]\nallow = always\n"
        '[remote "origin"]\nurl = "ext::{e}"\npromisor = true\n'
    ),
    "askpass and credentials": "[core]\naskPass = {e}\n[credential]\nhelper = !{e}\n",
    "include": "[include]\npath = {included}\n",
    "conditional include": '[includeIf "gitdir:**"]\npath = {included}\n',
    "work tree elsewhere": "[core]\nworktree = {elsewhere}\nfsmonitor = {e}\n",
    "submodule": (
        "[submodule]\nrecurse = true\n[core]\nfsmonitor = {e}\n[status]\nsubmoduleSummary = true\n"
    ),
}


def configured(private, key, program):
    """Put such a configuration into a git directory."""
    folder = program.parent
    (folder / "hooks").mkdir(exist_ok=True)
    for name in (
        "post-index-change",
        "post-checkout",
        "pre-auto-gc",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        shutil.copy(program, folder / "hooks" / name)
    write(folder / "attributes", "* diff=x\n")
    write(folder / "included", f"[core]\nfsmonitor = {program}\n")
    (folder / "elsewhere").mkdir(exist_ok=True)
    names = {name: folder / name for name in ("hooks", "attributes", "included", "elsewhere")}
    with (private / "config").open("a") as file:
        file.write(KEYS[key].format(e=program, **names))


def let_git_look(directory):
    """Give git a reason to look into the files, and an ignored and a new file to ask for."""
    os.utime(directory / "buggy.py", (1, 1))
    write(directory / "new.py")
    write(directory / "__pycache__" / "a.pyc")


@pytest.mark.parametrize("key", KEYS)
def test_no_configuration_is_executed(tmp_path, mark, key):
    executed, program = mark
    bug = repository(tmp_path / "repo")
    write(bug / ".gitattributes", "* filter=x diff=x\n")
    head = commit(bug.parent)
    if "promisor" in key:
        tree = git(bug, "rev-parse", "HEAD:bug")
        (bug.parent / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    configured(bug.parent / ".git", key, program)
    let_git_look(bug)
    expected = None if "promisor" in key else f"{head}-dirty"
    assert find_revision(bug) == expected
    assert not executed.exists()


@pytest.mark.parametrize("key", ["fsmonitor", "filter that cleans", "include", "hooks"])
def test_no_configuration_of_a_submodule_is_executed(tmp_path, mark, key):
    executed, program = mark
    bug = repository(tmp_path / "repo")
    module = repository(tmp_path / "other")
    write(module / ".gitattributes", "* filter=x\n")
    commit(module.parent)
    git(bug.parent, "submodule", "add", "-q", str(module.parent), "bug/module")
    head = commit(bug.parent)
    configured(bug.parent / ".git" / "modules" / "bug" / "module", key, program)
    os.utime(bug / "module" / "bug" / "buggy.py", (1, 1))
    assert find_revision(bug) == head
    let_git_look(bug / "module" / "bug")
    assert find_revision(bug / "module" / "bug").endswith("-dirty")
    assert find_revision(bug) == f"{head}-dirty"
    assert not executed.exists()


@pytest.mark.parametrize("name", ["fsmonitor", "include"])
def test_a_new_repository_within_a_folder_is_not_heard(bug, mark, name):
    executed, program = mark
    nest(bug)
    configured(bug / "inner" / ".git", name, program)
    os.utime(bug / "inner" / "a.py", (1, 1))
    assert find_revision(bug).endswith("-dirty")
    assert not executed.exists()


def bare_in(folder):
    """Files of a repository without `.git`, as a plain clone can bring them; its program marks that
    it was executed.
    """
    repo = repository(folder.parent / "made")
    for name in ("HEAD", "objects", "refs", "index"):
        source = repo.parent / ".git" / name
        shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(
            source, folder / name
        )
    config = (
        '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = "."\nfsmonitor = '
        '"./e.sh;false"\n'
    )
    write(folder / "config", config)
    write(folder / "e.sh", f"#!/bin/sh\ntouch '{folder.parent}/executed'\n")
    (folder / "e.sh").chmod(0o755)


def test_a_bug_that_looks_like_a_git_directory_is_not_executed(toy, tmp_path):
    folder = tmp_path / "clone" / "Toy-1"
    shutil.copytree(toy.directory, folder)
    bare_in(folder)
    assert find_revision(folder) is None
    git(folder.parent, "init", "-q")
    head = commit(folder.parent)
    assert find_revision(folder) == head
    assert not (folder.parent / "executed").exists()


def test_a_detector_that_looks_like_a_git_directory_is_not_executed(tmp_path):
    folder = write_detector(tmp_path / "clone" / "mine", "")
    bare_in(folder)
    assert find_revision(detectors.read(folder).directory) is None
    assert not (folder.parent / "executed").exists()


def test_variables_of_git_are_not_heard(bug, tmp_path, mark, monkeypatch):
    executed, program = mark
    head = git(bug, "rev-parse", "HEAD")
    other = repository(tmp_path / "other")
    for name, value in {
        "GIT_DIR": other.parent / ".git", "GIT_WORK_TREE": other.parent, "GIT_INDEX_FILE": "/nowhere",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": program,
        "GIT_EXTERNAL_DIFF": program, "GIT_PAGER": program, "GIT_SSH_COMMAND": program,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))
    assert find_revision(bug) == head
    write(bug / "new.py")
    assert find_revision(bug) == f"{head}-dirty"
    assert not executed.exists()


def test_there_is_no_revision_without_git(bug, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_revision(bug) is None


def test_a_checkout_that_would_change_line_ends_keeps_them(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    names = (
        ".gitattributes",
        "Makefile",
        "bugs/SO-60335387/buggy.py",
        "bugs/SO-60335387/config.json",
    )
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    git(source, "init", "-q")
    commit(source)
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", str(source), "clone")
    for name in names:
        assert b"\r" not in (tmp_path / "clone" / name).read_bytes()
        assert (tmp_path / "clone" / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_installed_package_has_its_version(monkeypatch):
    monkeypatch.setattr("runner.results.revision.installed_root", lambda: Path("/somewhere"))
    assert find_revision(Path("/somewhere/bugs/Toy-1")).startswith("trainbugs-")
