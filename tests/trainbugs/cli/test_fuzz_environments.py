"""Whatever is in the files of an environment, the program ends with a line;
`test_fuzz.py` tells how to try more.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.fuzzing import HIDDEN_TEXTS, MARKS, broken, opened, torn, variants
from support.toy import PYTHON

pytestmark = MARKS

LOCK = (
    f"# a lock\ntoypackage==1.0 \\\n    --hash=sha256:{'0' * 64}\nother==2.0 ; python_version < "
    "'3.12'\n"
)
LINES = [
    *(
        "-r other.txt",
        "-e .",
        "--index-url http://x",
        "../x",
        "toy @ file:///x",
        "toy==1.0 ; os_name == 'x'",
        "toy",
        "é",
    ),
    *("toy==", "==1", "toy==1.0 --hash=md5:0", "#\0", "x" * 100_000, "\\", *HIDDEN_TEXTS),
]
VERSIONS = [
    *(
        "",
        "3",
        "3.11.99",
        "3.999",
        "99.1",
        "../python",
        "/bin/sh",
        "pypy",
        "3.11\n3.12",
        "-x",
        "3.11 ",
        "\u0663.11",
    ),
    *(">=3.11", "cpython-3.11", "x" * 5_000, *HIDDEN_TEXTS),
]
DESCRIPTION = '{"disk_gb": 0.01}'


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fuzz")) as opened_bench:
        brought = opened_bench.toy.directory.with_name("Toy-2") / "environment"
        for folder in (opened_bench.toy.root / "environments" / "toy", brought):
            folder.mkdir(parents=True)
            (folder / "requirements.in").write_text("toypackage==1.0\n")
            (folder / "requirements.txt").write_text(LOCK)
            (folder / ".python-version").write_text(PYTHON + "\n")
            (folder / "environment.json").write_text(DESCRIPTION)
        # The same bug, with an environment of its own.
        for path in opened_bench.toy.directory.glob("*.*"):
            text = path.read_text().replace("Toy-1", "Toy-2")
            (brought.parent / path.name).write_text(
                text.replace('"environment": "toy"', '"environment": "./environment"')
            )
        yield opened_bench


@st.composite
def locks(draw):
    lines = LOCK.splitlines()
    lines.insert(
        draw(st.integers(0, len(lines))), draw(st.sampled_from(LINES) | st.text(max_size=20))
    )
    return "\n".join(lines).encode("utf-8", "surrogatepass")


# A file of an environment, and what may be in it.
FILES = {
    "environment.json": broken(DESCRIPTION),
    ".python-version": torn(PYTHON)
    | st.sampled_from(VERSIONS).map(str.encode)
    | st.binary(max_size=20),
    "requirements.txt": locks() | locks() | torn(LOCK),
}


@st.composite
def spoiled_files(draw):
    """Whose environment it is, the name of a file, and what is in it."""
    name = draw(st.sampled_from(sorted(FILES)))
    return draw(st.sampled_from(["catalogue", "bug"])), name, draw(FILES[name])


def folder_of(bench, owner):
    if owner == "catalogue":
        return bench.toy.root / "environments" / "toy"
    return bench.toy.directory.with_name("Toy-2") / "environment"


def test_what_is_not_spoiled_is_well(bench):
    """Else the rest of this file would look at errors only; that it is not built is none."""
    assert (
        bench.call("env", "list")
        == bench.call("env", "list", "Toy-2")
        == bench.call("info", "Toy-2")
        == 0
    )
    assert bench.call("env", "check", "toy") == 2


@given(spoiled=spoiled_files())
@variants(40)
def test_environment(bench, spoiled):
    owner, file, data = spoiled
    bug = "Toy-1" if owner == "catalogue" else "Toy-2"
    name = "toy" if owner == "catalogue" else "Toy-2"
    with bench.spoil(folder_of(bench, owner) / file, data):
        listed = bench.call("env", "list", name)
        assert listed == bench.call("env", "list", name, "--json")
        bench.call("env", "list")
        bench.call("env", "check", name)
        bench.call("env", "remove", name)
        bench.call("info", bug)
        bench.call("validate", bug)
        bench.call("checkout", bug, "new")


@given(spoiled=spoiled_files())
@example(spoiled=("catalogue", ".python-version", b"3\0.11"))
@variants(3)
def test_environment_is_built(bench, spoiled):
    """uv reads the files, too; it finds no package here."""
    owner, file, data = spoiled
    with bench.spoil(folder_of(bench, owner) / file, data):
        bench.call("env", "build", "toy" if owner == "catalogue" else "Toy-2", "-q")
        bench.call("run", "Toy-1" if owner == "catalogue" else "Toy-2", "-q")
