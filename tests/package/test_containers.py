"""Containers: their definitions are well formed, and install what the package asks for,
by hashes.
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.checkout import copy_tracked
from support.paths import ROOT

FOLDER = ROOT / "containers"
HADOLINT = Path(sys.executable).parent / "hadolint"


def lint(path):
    return subprocess.run([HADOLINT, path], capture_output=True, text=True, check=False)


def test_the_dockerfile_has_no_warning():
    linted = lint(FOLDER / "Dockerfile")
    assert (linted.returncode, linted.stdout) == (0, "")


def test_a_bad_one_has(tmp_path):
    path = tmp_path / "Dockerfile"
    path.write_text((FOLDER / "Dockerfile").read_text().replace("--no-install-recommends", ""))
    assert "DL3015" in lint(path).stdout


def sections(name):
    """The sections of a definition of Apptainer, by their names."""
    parts = re.split(r"^%(\w+)\n", (FOLDER / name).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_definition_of_apptainer_has_its_parts():
    parts = sections("trainbugs.def")
    assert set(parts) == {"arguments", "files", "post", "environment", "runscript", "test"}
    script = re.sub(r"\{\{ *\w+ *\}\}", "torch-2.2.2", parts["post"])
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    definition = (FOLDER / "trainbugs.def").read_text()
    assert definition.startswith("Bootstrap: docker\nFrom: python:3.11-slim-bookworm\n")
    assert "FROM python:3.11-slim-bookworm AS host" in (FOLDER / "Dockerfile").read_text()


@pytest.mark.parametrize("where", ["Dockerfile", "trainbugs.def"])
def test_both_images_install_by_one_script(where):
    text = (FOLDER / where).read_text()
    assert "/opt/trainbugs/containers/install.sh /opt/trainbugs" in text
    assert "pip install" not in text


def test_nothing_is_installed_without_a_hash():
    text = (FOLDER / "install.sh").read_text()
    lines = [line for line in text.splitlines() if "pip install" in line]
    assert len(lines) == 2
    assert all("--require-hashes" in line or "--no-deps" in line for line in lines)


@pytest.mark.real
def test_the_script_installs_a_command_that_works(tmp_path):
    """Outside of an image, with the interpreter of the tests."""
    source, venv = tmp_path / "source", tmp_path / "venv"
    copy_tracked(source)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    script = source / "containers" / "install.sh"
    subprocess.run([script, source, venv], check=True, env=environment)
    shutil.rmtree(source)
    command = [venv / "bin" / "trainbugs", "info", "Bolts-654"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Bolts-654/iris" in shown.stdout


def test_the_lock_holds_what_the_package_asks_for():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    text = config["options"]["install_requires"] + extras["site"] + extras["export"]
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    requirements = [Requirement(line) for line in lines]
    lock = (FOLDER / "requirements.txt").read_text()
    pins = re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE)
    versions = {canonicalize_name(name): version for name, version in pins}
    assert requirements
    for requirement in requirements:
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement
    assert lock.count("--hash=sha256:") >= len(pins)
