"""What a host of repositories reads: workflows and templates."""

import re

import pytest
import yaml
from support.paths import ROOT

from trainbugs.cli.main import main

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def steps(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_fewest_permissions_it_needs(path):
    permissions = yaml.safe_load(path.read_text())["permissions"]
    assert permissions["contents"] == "read"
    assert set(permissions) <= {"contents", "pages", "id-token"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_its_commands_are_commands(path, capsys):
    """Each `trainbugs COMMAND --option` is one that there is."""
    lines = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    for line in lines:
        found = re.search(r"trainbugs ([a-z]+)((?: --[a-z-]+)*)", line)
        if found:
            assert main([found[1], "--help"]) == 0
            shown = capsys.readouterr().out
            options = re.findall(r"--[a-z-]+", line)
            assert options
            assert all(option in shown for option in options), line


def test_a_submission_is_looked_at_by_code_of_the_base_branch():
    """A pull request may change everything: of its files only submissions are taken."""
    path = ROOT / ".github" / "workflows" / "submission.yml"
    described = yaml.safe_load(path.read_text())
    # YAML reads the key `on` as true.
    assert set(described[True]) == {"pull_request"}
    first = steps(path)[0]
    assert first["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    checkouts = re.findall(r"git checkout .*", path.read_text())
    assert checkouts
    assert all('-- "submissions/$name"' in line for line in checkouts)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_something(path):
    form = yaml.safe_load(path.read_text())
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids)) > 1
    assert all(field["attributes"]["label"] for field in form["body"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_commands_of_a_form_are_commands(path, capsys):
    for command, option in re.findall(r"`trainbugs ([a-z]+) (--[a-z-]+)", path.read_text()):
        assert main([command, "--help"]) == 0
        assert option in capsys.readouterr().out.split()


def test_a_false_alarm_is_told_with_all_that_repeats_it():
    form = yaml.safe_load((FORMS[0].parent / "false-alarm.yml").read_text())
    required = {field["id"]: field["validations"]["required"] for field in form["body"]}
    assert required == {"program": True, "torch": True, "report": True, "right": True}
    (report,) = [field for field in form["body"] if field["id"] == "report"]
    assert "`trainbugs watch --json FILE" in report["attributes"]["description"]


def test_forms_and_workflows_are_there():
    assert {path.stem for path in WORKFLOWS} == {"tests", "site", "submission"}
    assert {path.stem for path in FORMS} == {"bug", "false-alarm", "problem"}
