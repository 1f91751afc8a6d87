"""Scores against numbers that were worked out by hand, or that a textbook gives."""

import json

import pytest
from msgspec.structs import replace
from support.checks import HIT, SITE, overhead, record
from support.detectors import write_detector

from evaluation.catalog.declared import DeclaredPrograms
from evaluation.catalog.frozen import Frozen, FrozenRule, digest_files
from evaluation.catalog.frozen import digest as frozen_digest
from evaluation.catalog.frozen import load as load_frozen
from evaluation.keys import rule_digest
from evaluation.model import Alarm, Invariants, Rule
from evaluation.records import FaultSite
from evaluation.scoring.intervals import clustered
from evaluation.scoring.outcomes import diagnosis, label, outcomes
from evaluation.scoring.scores import scores

RULES = {"d": {"default": Rule()}}


def first_row(records, rules=RULES, overheads=()):
    return scores(outcomes(records, rules), overheads).iloc[0]


def test_a_detection_is_paired_only_if_the_fixed_twin_ran_and_is_silent():
    checks = [
        record(alarms=[HIT]), record("fixed"),
        record(case="two", alarms=[HIT]), record("fixed", "two", [HIT]),
        record(case="three", alarms=[HIT]), record("fixed", "three", status="tool_error"),
        record(case="four", alarms=[HIT]),
        record(case="five"), record("fixed", "five"),
        record(case="six", status="timeout"), record("fixed", "six"),
    ]  # fmt: skip
    row = first_row(checks)
    assert row.detected == 4
    assert row.detected_n == 6
    assert row.paired == 1
    assert row.ran == 5
    assert row.false_fixed == 1
    assert row.false_fixed_n == 4
    assert row.tool_error == 1
    assert row.timeout == 1


def test_alarms_of_a_failed_tool_count_nowhere():
    assert first_row([record(alarms=[HIT], status="tool_error"), record("fixed")]).detected == 0


def test_delay_is_from_the_trigger_and_of_the_first_alarm_that_counts():
    early = Alarm("c", "m", "info", 1)
    row = first_row([record(alarms=[HIT, replace(HIT, iteration=9), early]), record("fixed")])
    assert row.claimed_delay_median == 2
    assert row.claimed_delay_max == 2
    assert row.delay_median is None
    static = first_row([record(alarms=[replace(HIT, iteration=None)]), record("fixed")])
    assert static.detected == 1
    assert static.claimed_delay_median is None


def test_the_delay_is_that_of_the_launcher_whatever_the_detector_says():
    """An alarm of the end that claims to be of the first iteration comes last, and is not early."""
    late = replace(HIT, iteration=1, seen=30)
    row = first_row([record(alarms=[late]), record("fixed")])
    assert row.delay_median == 25
    assert row.claimed_delay_median == -4
    assert row.early == 0
    assert row.detected == 1
    both = outcomes([record(alarms=[late, replace(HIT, seen=7, code="first")])], RULES).iloc[0]
    assert both.delay == 2
    assert both.claimed_delay == 2


def test_hits_before_the_trigger_are_counted_apart():
    early = replace(HIT, iteration=4)
    checks = [
        record(alarms=[early, HIT]), record("fixed"),
        record(case="two", alarms=[HIT]), record("fixed", "two"),
        record(case="three", alarms=[early], benign=True), record("fixed", "three", benign=True),
    ]  # fmt: skip
    row = first_row(checks)
    assert row.early == 1
    assert row.detected == 1
    assert row.detected_n == 2
    assert row.paired == 1
    assert row.benign_detected == 0
    assert row.claimed_delay_median == 2, "delays are of hits"


def test_benign_cases_and_controls_are_counted_apart():
    checks = [
        record(alarms=[HIT]), record("fixed"), record(case="small", alarms=[HIT], benign=True),
        record("fixed", "small", benign=True), record("control", "gan", [HIT]), record("control", "rnn"),
    ]  # fmt: skip
    row = first_row(checks)
    assert row.detected == 1
    assert row.detected_n == 1
    assert row.benign_detected == 1
    assert row.benign_paired == 1
    assert row.benign_n == 1
    assert row.false_controls == 1
    assert row.false_controls_n == 2
    assert row.false_fixed_n == 2


def test_rules_and_kinds_of_references_are_scored_apart():
    rules = {"d": {"all": Rule("info"), "strict": Rule("error")}}
    checks = [record(alarms=[Alarm("c", "m", "info")]), record(references="cross", alarms=[HIT])]
    table = scores(outcomes(checks, rules)).set_index(["references", "rule"]).detected
    assert dict(table) == {
        ("cross", "all"): 1,
        ("cross", "strict"): 1,
        ("none", "all"): 1,
        ("none", "strict"): 0,
    }


@pytest.mark.parametrize(
    "alarm, expected",
    [
        (Alarm("c", "m", "error", api="torch.optim.Optimizer.zero_grad"), "exact"),
        (Alarm("c", "m", "error", file="program.py", line=40), "exact"),
        (Alarm("c", "m", "error", file="program.py", line=45), "near"),
        (Alarm("c", "m", "error", file="program.py", line=46), "no"),
        (Alarm("c", "m", "error", file="images.py", line=40), "no"),
        (Alarm("c", "m", "error", api="torch.optim.Adam.zero_grad"), "near"),
        (Alarm("c", "m", "error", api="torch.optim.Optimizer.step"), "no"),
        (Alarm("c", "m", "error", line=40), "no"),
        (Alarm("c", "m", "error"), "no"),
    ],
)
def test_diagnosis(alarm, expected):
    assert diagnosis(alarm, SITE) == expected


def test_the_invariant_rate_is_of_clean_programs_only():
    checks = [
        record(invariants=Invariants(10, 10)), record("fixed", invariants=Invariants(10, 1)),
        record("control", "gan", invariants=Invariants(4, 2)), record("control", "rnn", invariants=Invariants(0, 0)),
    ]  # fmt: skip
    assert first_row(checks).invariant_rate == pytest.approx((0.1 + 0.5) / 2)


def test_overhead_is_the_ratio_of_medians():
    claimed = overhead((1.0, 9.0, 2.0), (3.0, 3.0, 30.0))
    row = first_row([record(), record("fixed")], overheads=[claimed])
    assert row.claimed_overhead == 1.5
    assert row.overhead is None
    assert row.overhead_of == "loop"
    assert row.overhead_on == "B/one"
    timed = replace(claimed, bare_wall=(4.0, 4.0, 5.0), watched_wall=(6.0, 5.0, 7.0))
    row = first_row([record(), record("fixed")], overheads=[timed])
    assert row.claimed_overhead == 1.5, "6 / 4 by the clock outside"
    assert row.overhead == 1.5, "6 / 4 by the clock outside"
    assert first_row([record()]).overhead is None


def test_twins_that_are_work_arounds_and_mended_releases_are_counted_apart():
    """The fault of the second bug is in a package: its fixed script goes round it."""
    away = FaultSite("torch/optim/adam.py", 1, "torch.optim.Adam")
    checks = [
        record(alarms=[HIT]), record("fixed", site=FaultSite("buggy.py", 40, "x")), record("upstream", alarms=[HIT]),
        record(case="two", alarms=[HIT], site=away), record("fixed", "two", [HIT], site=away),
        record("upstream", "two", site=away),
        record(case="three", alarms=[HIT], site=away), record("fixed", "three", site=away),
    ]  # fmt: skip
    row = first_row(checks)
    assert row.paired_proposed == 1
    assert row.paired_proposed_n == 1
    assert row.paired_workaround == 1
    assert row.paired_workaround_n == 2
    assert row.paired_upstream == 1
    assert row.paired_upstream_n == 2
    assert row.false_upstream == 1
    assert row.false_upstream_n == 2
    assert row.false_proposed == 0
    assert row.false_proposed_n == 1
    assert row.false_workaround == 1
    assert row.false_workaround_n == 2
    assert row.paired == 2
    assert row.paired_n == 3
    assert row.false_fixed_n == 3


def test_the_kind_of_a_twin_is_what_its_case_declares():
    """It wins over the place of the fault."""
    declared = DeclaredPrograms(fixes={"B/one": "released", "B/two": "work-around"})
    checks = [
        record(alarms=[HIT]),
        record("fixed"),
        record(case="two"),
        record("fixed", "two", [HIT]),
    ]
    row = scores(outcomes(checks, RULES, declared=declared)).iloc[0]
    assert (row.paired_released, row.paired_released_n) == (1, 1)
    assert (row.false_workaround, row.false_workaround_n) == (1, 1)
    assert row.paired_proposed_n == 0


def test_bugs_of_one_family_are_one_cluster_and_weigh_as_one():
    """Three bugs, two of one family: one hit of two there, one of one elsewhere."""
    checks = []
    for bug, alarms in (("B", [HIT]), ("C", []), ("D", [HIT])):
        checks += [record(alarms=alarms, bug=bug), record("fixed", bug=bug)]
    declared = DeclaredPrograms(families={"B": "clipping", "C": "clipping"})
    alone = first_row(checks)
    together = scores(outcomes(checks, RULES, declared=declared)).iloc[0]
    assert (alone.families, together.families) == (3, 2)
    assert alone.paired == together.paired == 2
    assert alone.paired_by_family == pytest.approx(2 / 3)
    assert together.paired_by_family == pytest.approx(3 / 4)
    width = together.paired_high - together.paired_low
    assert width > alone.paired_high - alone.paired_low


def test_bugs_that_were_known_when_a_detector_was_frozen_are_counted_apart():
    checks = [
        record(alarms=[HIT]),
        record("fixed"),
        record(bug="C", alarms=[HIT]),
        record("fixed", bug="C"),
    ]
    checks += [record(bug="D"), record("fixed", bug="D")]
    frozen = {"d": Frozen("1", "2026-01-01", "0" * 64, ("B",))}
    row = scores(outcomes(checks, RULES, frozen)).iloc[0]
    assert row.paired_known == 1
    assert row.paired_known_n == 1
    assert row.paired_new == 1
    assert row.paired_new_n == 2
    another = {"d": Frozen("2", "2026-01-01", "0" * 64, ("B",))}
    for none in ({}, another):
        row = scores(outcomes(checks, RULES, none)).iloc[0]
        assert row.paired_known_n == 0, "not frozen at this version"
        assert row.paired_new_n == 0, "not frozen at this version"


def test_a_rule_of_an_earlier_version_has_its_own_known_bugs():
    checks = [
        record(alarms=[HIT]),
        record("fixed"),
        record(bug="C", alarms=[HIT]),
        record("fixed", bug="C"),
    ]
    former = FrozenRule("2025-01-01", ("adapter.py",), "0" * 64, ("B",))
    frozen = {"d": Frozen("1", "2026-01-01", "0" * 64, ("B", "C"), {"former": former})}
    rules = {"d": {"default": Rule(), "former": Rule()}}
    table = scores(outcomes(checks, rules, frozen)).set_index("rule")
    counted = table[["paired_known_n", "paired_new_n"]].to_dict("index")
    assert counted["default"] == {"paired_known_n": 2, "paired_new_n": 0}
    assert counted["former"] == {"paired_known_n": 1, "paired_new_n": 1}


def test_a_rule_whose_files_are_not_what_they_were_knows_what_the_detector_knows(tmp_path):
    folder = write_detector(tmp_path / "detectors" / "mine", "")
    former = {"since": "2025-01-01", "files": ["adapter.py"], "developed_on": ["B"]}
    described = {"version": "1", "since": "2026-01-01", "developed_on": ["B", "C"]}
    for text, bugs in (("", ("B",)), ("# mended\n", ("B", "C"))):
        former["digest"] = former.get("digest") or digest_files(folder, ["adapter.py"])
        (folder / "adapter.py").write_text((folder / "adapter.py").read_text() + text)
        whole = described | {"digest": frozen_digest(folder), "rules": {"former": former}}
        (tmp_path / "detectors" / "frozen.json").write_text(json.dumps({"mine": whole}))
        assert load_frozen(tmp_path)["mine"].known_to("former") == bugs


def test_a_detector_that_is_not_what_it_was_is_not_frozen(tmp_path):
    folder = write_detector(tmp_path / "detectors" / "mine", "")
    described = {
        "version": "1",
        "since": "2026-01-01",
        "digest": frozen_digest(folder),
        "developed_on": ["B"],
    }
    (tmp_path / "detectors" / "frozen.json").write_text(json.dumps({"mine": described}))
    assert load_frozen(tmp_path)["mine"].developed_on == ("B",)
    (folder / "adapter.py").write_text("# mended\n")
    assert not load_frozen(tmp_path)
    assert not load_frozen(tmp_path / "detectors")


def test_a_rule_is_post_hoc_if_it_was_not_declared_in_these_words():
    declared = {"default": rule_digest(Rule()), "strict": rule_digest(Rule("error"))}
    now = {
        "d": {
            "default": Rule(),
            "strict": Rule("info"),
            "later": Rule(at_least=2),
            "renamed": Rule("error"),
        }
    }
    table = scores(outcomes([record(declared=declared), record("fixed", declared=declared)], now))
    assert [label(row) for _, row in table.iterrows()] == [
        "d", "d (later, post hoc)", "d (renamed)", "d (strict, post hoc)",
    ]  # fmt: skip
    assert first_row([record()]).rule_since is None


def test_references_with_the_text_of_the_twin_are_an_oracle():
    for text, expected in ((None, "d (oracle)"), (True, "d (oracle)"), (False, "d (same)")):
        assert label(first_row([record(references="same", reference_text=text)])) == expected
    assert label(first_row([record(references="cross", reference_text=True)])) == "d (cross)"


def test_intervals_are_clustered_by_bug_and_controls_are_programs_of_their_own():
    cases = [record(case=f"c{n}", alarms=[HIT]) for n in range(4)] + [
        record(bug="C"),
        record(bug="D"),
    ]
    row = first_row([*cases, *(record("control", f"k{n}", [HIT] * (n < 2)) for n in range(4))])
    assert row.bugs == 3
    assert row.detected == 4
    assert row.detected_n == 6
    assert (row.detected_low, row.detected_high) == pytest.approx(clustered([4, 0, 0], [4, 1, 1]))
    assert (row.false_controls_low, row.false_controls_high) == pytest.approx(
        clustered([1, 1, 0, 0], [1] * 4)
    )


def test_a_rule_that_wants_several_alarms_is_late_by_the_one_that_is_enough():
    """The trigger is iteration 5: by the first alarm it would be early, by the third it is not."""
    alarms = [Alarm("c", "m", "error", n, seen=n) for n in (3, 6, 9)]
    rules = {"d": {"any": Rule(), "three": Rule(at_least=3)}}
    table = outcomes([record(alarms=alarms), record("fixed")], rules).set_index("rule")
    buggy = table[table.kind == "buggy"]
    assert buggy.early.to_dict() == {"any": True, "three": False}
    assert buggy.delay.to_dict() == {"any": -2, "three": 4}


def test_cases_of_bugs_that_were_known_are_in_no_rate_of_unseen_ones():
    checks = [record(alarms=[HIT]), record("fixed"), record(bug="C"), record("fixed", bug="C")]
    frozen = {"d": Frozen("1", "2026-01-01", "0" * 64, ("B",))}
    row = scores(outcomes(checks, RULES, frozen)).iloc[0]
    assert row.unseen_mended_n + row.unseen_workaround_n == 1
    assert row.paired_known == 1


def test_evidence_counts_the_pairs_that_are_told_apart():
    """An alarm on the buggy program alone, on the fixed one alone, on both, and a fixed one that
    it did not run on.
    """
    answers = [("B", 1, 0, "ok"), ("C", 0, 1, "ok"), ("D", 1, 1, "ok"), ("E", 1, 0, "timeout")]
    checks = []
    for bug, on_buggy, on_fixed, status in answers:
        checks.append(record(alarms=[HIT] * on_buggy, bug=bug))
        checks.append(record("fixed", alarms=[HIT] * on_fixed, bug=bug, status=status))
    row = scores(outcomes(checks, RULES)).iloc[0]
    assert (row.only_buggy, row.only_fixed, row.evidence_p) == (1, 1, 1)


@pytest.mark.parametrize("early_kind", ["buggy", "fixed"])
def test_a_case_with_an_alarm_before_the_trigger_is_no_evidence(early_kind):
    """A rule that alarms in iteration 1, whatever it sees, leads on neither side."""
    early = replace(HIT, iteration=4)
    other = {"buggy": "fixed", "fixed": "buggy"}[early_kind]
    checks = [record("buggy", alarms=[HIT], bug="B"), record("fixed", bug="B")]
    for bug, alarms in (("C", [HIT]), ("D", [early]), ("E", [])):
        checks.append(record(early_kind, alarms=[early], bug=bug))
        checks.append(record(other, alarms=alarms, bug=bug))
    row = scores(outcomes(checks, RULES)).iloc[0]
    assert (row.only_buggy, row.only_fixed, row.evidence_p) == (1, 0, 1)


def test_an_alarm_that_names_neither_site_nor_neighbour_is_not_paired_at_the_site():
    far = replace(HIT, line=400, api=None)
    near_pair = [record(alarms=[HIT], bug="C"), record("fixed", bug="C")]
    row = scores(outcomes([record(alarms=[far]), record("fixed"), *near_pair], RULES)).iloc[0]
    assert (row.paired, row.paired_site) == (2, 1)
