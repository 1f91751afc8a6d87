"""The tables of scores of some records, as the command line, the interface for Python and the check
of submissions compute them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evaluation.catalog import rule_settings, submissions
from evaluation.catalog.declared import declared_programs
from evaluation.records import Records
from evaluation.scoring import comparison, outcomes, scores
from runner.bugs.catalog import Catalog

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ScoreTables:
    """The scores of the detectors of some records, the outcomes behind them, and pairs of scores on
    the same programs; each is computed where it is asked for.
    """

    records: Records
    catalog: Catalog

    @cached_property
    def outcomes(self) -> "pd.DataFrame":
        """A row for each program and rule."""
        frozen = submissions.load_frozen(self.catalog.root)
        declared = declared_programs(self.catalog)
        return outcomes.outcomes(self.records.checks, self.records.rules, frozen, declared)

    @cached_property
    def scores(self) -> "pd.DataFrame":
        """A row for each rule; rules are chosen as detectors/rules.json says."""
        settings = rule_settings.load(self.catalog.root)
        return scores.scores(self.outcomes, self.records.overheads, settings)

    @cached_property
    def comparisons(self) -> "pd.DataFrame":
        """A row for each pair of scores."""
        return comparison.comparisons(self.outcomes, self.scores)
