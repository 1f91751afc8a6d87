"""Installed files against the RECORD of their wheels."""

import hashlib

import pytest
from support.wheels import record_line

from runner.environments.manifest import file_hashes
from runner.environments.wheels import packages, wrong

SITE = "lib/python3.11/site-packages"
FILES = {
    f"{SITE}/torch/__init__.py": "x = 1\n",
    f"{SITE}/torch/__pycache__/old.cpython-311.pyc": "of the wheel",
    f"{SITE}/sub.pth": "import torch\n",
    "bin/torchrun": "#!/bin/sh\n",
}


@pytest.fixture
def venv(tmp_path):
    """An environment with one package, whose RECORD says what its files hold."""
    for path, text in FILES.items():
        put(tmp_path, path, text)
    record(
        tmp_path,
        "torch",
        {path: record_line(relative(path), text) for path, text in FILES.items()}.values(),
    )
    return tmp_path


def relative(path):
    return path.removeprefix(f"{SITE}/") if path.startswith(SITE) else f"../../../{path}"


def put(venv, path, text):
    (venv / path).parent.mkdir(parents=True, exist_ok=True)
    (venv / path).write_text(text)


def record(venv, package, lines):
    path = f"{SITE}/{package}-1.0.dist-info/RECORD"
    put(venv, path, "".join([*lines, f"{package}-1.0.dist-info/RECORD,,\n"]))


def find_wrong(venv, compiled=False):
    return [str(item) for item in wrong(venv, file_hashes(venv), compiled)]


def test_files_as_their_wheels_have_them(venv):
    assert find_wrong(venv) == []
    assert packages(venv) == ["torch"]
    put(venv, "pyvenv.cfg", "of the venv itself")
    put(venv, f"{SITE}/_virtualenv.pth", "import _virtualenv")
    put(venv, f"{SITE}/torch-1.0.dist-info/RECORD.jws", "")
    assert find_wrong(venv) == []


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_was_edited_or_is_missing(venv, path):
    put(venv, path, "y")
    assert find_wrong(venv) == [f"{path} is not what the RECORD of torch says"]
    (venv / path).unlink()
    assert find_wrong(venv) == [f"{path} is not what the RECORD of torch says"]


@pytest.mark.parametrize(
    "name", ["evil.pth", "evil_virtualenv.pth", "torch/evil.py", "torch/__pycache__/evil.pyc"]
)
def test_a_file_of_no_wheel(venv, name):
    put(venv, f"{SITE}/{name}", "")
    assert find_wrong(venv) == [f"{SITE}/{name} is in no wheel's RECORD"]


def test_bytecode_is_left_out_once_it_is_compiled(venv):
    put(venv, f"{SITE}/torch/__pycache__/__init__.cpython-311.pyc", "")
    put(venv, f"{SITE}/torch/__pycache__/old.cpython-311.pyc", "compiled anew")
    assert len(find_wrong(venv)) == 2
    assert find_wrong(venv, compiled=True) == []
    put(venv, f"{SITE}/torch/sourceless.pyc", "")
    assert find_wrong(venv, compiled=True) == [
        f"{SITE}/torch/sourceless.pyc is in no wheel's RECORD"
    ]


def test_a_file_that_two_wheels_bring(venv):
    put(venv, f"{SITE}/nvidia/__init__.py", "one")
    record(venv, "cublas", [record_line("nvidia/__init__.py", "one")])
    record(venv, "cudnn", [record_line("nvidia/__init__.py", "other")])
    assert find_wrong(venv) == []
    put(venv, f"{SITE}/nvidia/__init__.py", "of neither")
    (item,) = wrong(venv, file_hashes(venv), compiled=False)
    assert item.packages == {"cublas", "cudnn"}


@pytest.mark.parametrize("row", [f"{'x' * 200_000},,", '"open\n' + "x" * 200_000])
def test_a_row_that_is_no_csv_names_no_file(venv, row):
    put(venv, f"{SITE}/b.py", "b")
    record(venv, "odd", [f"{row}\nb.py,,\n"])
    assert find_wrong(venv) == [
        f"{SITE}/{name} is in no wheel's RECORD" for name in ("b.py", "odd-1.0.dist-info/RECORD")
    ]


@pytest.mark.parametrize(
    "row, right",
    [
        ("a.py,,", True),
        ("a.py", True),
        (f"a.py,sha256={hashlib.sha256(b'a').hexdigest()},1", True),
        (f"a.py,sha256={hashlib.sha256(b'b').hexdigest()},1", False),
        ("a.py,sha512=Zm9v,1", True),
        ("a.py,sha256=Zm9v,1", False),
        ("a.py,sha256=!,1", False),
        ("a.py,sha256=,1", False),
        (f"a.py,sha256={hashlib.sha256(b'a').hexdigest().upper()},1", False),
        ('"a.py",,', True),
        ("folder/,,\na.py,,", True),
        ("nothing,,\na.py,,", False),
        ("\na.py,,", True),
    ],
)
def test_rows_as_wheels_have_them(venv, row, right):
    put(venv, f"{SITE}/a.py", "a")
    put(venv, f"{SITE}/folder/b.py", "b")
    record(venv, "odd", [f"{row}\nfolder/b.py,,\n"])
    assert (find_wrong(venv) == []) is right
