"""Which rule of a detector is chosen, and that nothing but the known bugs has a say."""

from support.checks import HIT, record
from support.copies import replace
from support.paths import ROOT

from evaluation.catalog import detectors, development, submissions
from evaluation.catalog.frozen import Frozen, FrozenRule
from evaluation.model import Rule
from evaluation.reading.subsets import select_bugs, select_common
from evaluation.records import Records
from evaluation.scoring import report
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.scores import outcomes, scores

RULES = {"d": {"any": Rule(), "few": Rule(at_least=2), "many": Rule(at_least=3)}}
FROZEN = {"d": Frozen("1", "2026-01-01", "0" * 64, ("B",))}


def table(checks, frozen=FROZEN, rules=RULES):
    return scores(outcomes(checks, rules, frozen)).set_index("rule")


def pair(bug, case, on_buggy, on_fixed):
    return [
        record("buggy", case, [HIT] * on_buggy, bug=bug),
        record("fixed", case, [HIT] * on_fixed, bug=bug),
    ]


def test_the_rule_with_most_pairs_of_known_bugs_is_chosen_whatever_it_does_with_others():
    """`many` finds three bugs that nobody knew, and accuses none of their twins;
    `few` the one that was known.
    """
    new_pairs = [check for case in ("x", "y", "z") for check in pair("C", case, 3, 2)]
    rows = table([*pair("B", "simple", 2, 1), *new_pairs])
    assert rows.paired.to_dict() == {"any": 0, "few": 1, "many": 3}
    assert rows.chosen.to_dict() == {"any": False, "few": True, "many": False}


def test_of_rules_with_as_many_pairs_the_one_that_accuses_less():
    checks = [*pair("B", "one", 3, 0), *pair("B", "two", 1, 1)]
    rows = table(checks)
    assert rows.paired_known.to_list() == [1, 1, 1]
    assert rows.false_known.to_list() == [1, 0, 0]
    assert rows.chosen.to_dict() == {"any": False, "few": True, "many": False}


def test_more_pairs_count_before_fewer_accusations():
    checks = [*pair("B", "one", 1, 0), *pair("B", "two", 1, 0), *pair("B", "three", 3, 1)]
    rows = table(checks)
    assert rows.paired_known.to_list() == [2, 1, 1]
    assert rows.false_known.to_list() == [1, 0, 0]
    assert rows.chosen.to_dict() == {"any": True, "few": False, "many": False}


def test_nothing_is_chosen_of_rules_that_know_different_bugs():
    """`many` is older than the bug B: neither it nor the others are better than the rest by what
    all of them knew.
    """
    checks = [*pair("B", "simple", 2, 1), *pair("C", "simple", 3, 0)]
    older = FrozenRule("2026-01-01", ("monitor.py",), "0" * 64, ("C",))
    rows = table(
        checks, {"d": replace(FROZEN["d"], developed_on=("B", "C"), rules={"many": older})}
    )
    assert rows.paired_known_n.to_dict() == {"any": 2, "few": 2, "many": 1}
    assert rows.chosen.isna().all()


def test_nothing_is_chosen_where_there_is_one_rule_or_no_known_bug():
    checks = pair("B", "simple", 2, 1)
    assert table(checks, {}).chosen.isna().all()
    assert table(checks, rules={"d": {"any": Rule()}}).chosen.isna().all()


def test_the_table_to_be_read_says_which_one_it_is():
    heading, *lines = report.rows(
        table([*pair("B", "one", 2, 1), *pair("C", "one", 1, 0)]).reset_index()
    )
    assert heading[-2:] == ["NEW", "CHOSEN"]
    assert [line[-2:] for line in lines] == [["1/1", "-"], ["0/1", "yes"], ["0/1", "-"]]


def test_rules_in_whose_place_another_is_chosen_can_be_left_out():
    checks = pair("B", "simple", 2, 1)
    assert list(without_rejected(table(checks)).index) == ["few"]
    assert list(without_rejected(table(checks, {})).index) == ["any", "few", "many"]


def test_of_a_part_of_the_programs_the_rule_stays_that_is_chosen_by_all():
    """By the one case alone `any` would be the best one, by both it is `few`;
    a part of a part is one of all, too.
    """
    rules = {"d": {"any": Rule(), "few": Rule(at_least=2)}}
    records = Records(
        [*pair("B", "one", 1, 0), *pair("B", "two", 2, 1), *pair("B", "three", 3, 1)], (), rules
    )
    assert not records.whole
    for part in (select_bugs(records, {"B/one"}), select_common(select_bugs(records, {"B/one"}))):
        part_table, whole_table = (
            outcomes(checks, rules, FROZEN) for checks in (part.checks, part.whole)
        )
        assert scores(part_table).set_index("rule").chosen.to_dict() == {"any": True, "few": False}
        rows = scores(part_table, whole=whole_table).set_index("rule")
        assert rows.chosen.to_dict() == {"any": False, "few": True}
        assert rows.paired.to_dict() == {"any": 1, "few": 0}
        assert list(rows) == list(table(records.checks, rules=rules))


def test_the_bugs_by_which_rules_are_chosen_are_bugs_and_the_detectors_detectors():
    declared, frozen = development.load(ROOT), submissions.load_frozen(ROOT)
    assert declared.bugs == tuple(sorted(set(declared.bugs)))
    assert len(declared.bugs) == 25
    assert all((ROOT / "bugs" / bug / "config.json").is_file() for bug in declared.bugs)
    assert set(declared.detectors) == set(detectors.names(ROOT)) - {
        "memory",
        "sanitizer",
        "sanitizer-3",
        "traincheck",
    }
    assert all(frozen[name].developed_on == declared.bugs for name in declared.detectors)


def test_a_catalogue_without_the_file_has_none(tmp_path):
    assert development.load(tmp_path) is None
