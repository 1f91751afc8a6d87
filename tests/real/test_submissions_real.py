"""A sample of the programs that a submission met, met again:
the answers are those of its records.
"""

import pytest
from support.paths import ROOT

from evaluation.catalog import submissions
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session


def answers(records):
    return {
        (record.bug, record.case, record.kind): (record.status, record.alarms)
        for record in records
        if record.seed == 0 and record.kind != "control"
    }


def sample(committed):
    """The first case in which the detector alarms on the buggy program alone,
    or else the first one.
    """

    def alarms(bug, case, kind):
        _, alarms = committed.get((bug, case, kind), ("", ()))
        return alarms

    cases = sorted({(bug, case) for bug, case, kind in committed if kind == "buggy"})
    for bug, case in cases:
        if alarms(bug, case, "buggy") and not alarms(bug, case, "fixed"):
            return bug, case
    return cases[0]


@pytest.mark.real
@pytest.mark.parametrize("name", submissions.names(ROOT))
def test_a_sample_of_the_programs_has_the_same_answers_again(tmp_path, name):
    _, detector = submissions.load(ROOT, name)
    committed = answers(CommittedChecks(ROOT / submissions.FOLDER / name).read().checks)
    bug, case = sample(committed)
    session = Session(
        Catalog(ROOT), Options(results=tmp_path / "results", device="cpu"), on_stderr()
    )
    plan = CampaignOptions([detector], bugs=[f"{bug}/{case}"], controls="none", overhead_on=None)
    again = answers(campaign.run(plan, session).checks)
    assert {kind for _, _, kind in again} >= {"buggy", "fixed"}
    assert again == {program: committed[program] for program in again}
