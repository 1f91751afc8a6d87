"""The detector that knows the published programs by heart: all of them, and nothing else."""

import hashlib
import shutil

import pytest
from support.paths import ROOT

from evaluation.catalog import detectors
from evaluation.records import Records
from evaluation.rewriting.twins import names_to_keep, rewrite
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.scoring.rewritten import side_by_side
from runner.bugs.catalog import Catalog

MEMORY = ROOT / "detectors" / "memory"


def known_digests():
    return {line.split()[0] for line in (MEMORY / "known.txt").read_text().splitlines()}


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_it_has_every_published_program_and_none_that_is_rewritten():
    """`sha256sum bugs/*/*buggy.py > detectors/memory/known.txt` makes the list anew."""
    published = set()
    for bug in Catalog(ROOT):
        for case in bug.cases.values():
            texts = {
                name: case.program.variants[name].script.read_text() for name in ("buggy", "fixed")
            }
            published.add(digest(texts["buggy"]))
            assert digest(texts["fixed"]) not in known_digests()
            reserved = names_to_keep(
                case.program.parameters, bug.probe.read_text() if bug.probe else None, bug.site.api
            )
            assert (
                not {digest(program.text) for program in rewrite(texts, 5, reserved).values()}
                & known_digests()
            )
    assert known_digests() == published


@pytest.fixture
def memory(toy, tmp_path):
    """The detector, with the toy bug in the place of the real ones."""
    directory = tmp_path / "memory"
    shutil.copytree(MEMORY, directory)
    (directory / "known.txt").write_text(
        f"{digest((toy.directory / 'buggy.py').read_text())}  bugs/Toy-1/buggy.py\n"
    )
    return detectors.load(toy.root, str(directory))


def test_it_finds_all_that_is_published_and_nothing_that_is_rewritten(toy, memory):
    checks = []
    for seed in (None, 1):
        plan = CampaignOptions([memory], overhead_on=None, perturb=seed)
        checks += campaign.run(plan, toy.session()).checks
    row = side_by_side(Records(checks, (), {"memory": memory.alarm_rules})).iloc[0]
    assert row.public_detected == 1
    assert row.public_detected_n == 1
    assert row.public_paired == 1
    assert row.public_false_fixed == 0
    assert row.perturbed_detected == 0
    assert row.perturbed_detected_n == 1
    assert row.perturbed_paired == 0
