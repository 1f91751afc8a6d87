"""What is committed, as a whole."""

import subprocess

from support.paths import ROOT


def test_no_file_is_larger_than_a_mebibyte():
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    sizes = {name: (ROOT / name).stat().st_size for name in names if (ROOT / name).is_file()}
    assert sizes
    assert not {name: size for name, size in sizes.items() if size > 2**20}
