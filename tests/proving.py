"""Pytest options for whole reproductions: a bounded proof of a few cases, and a full one that can be stopped."""

import time
from datetime import UTC, datetime

import proof
import pytest

from runner.catalog import Catalog


def pytest_addoption(parser):
    group = parser.getgroup("proof", "whole reproductions")
    group.addoption(
        "--proof-within",
        type=float,
        metavar="SECONDS",
        help="reproduce only the seed bugs, what tests/proof.csv does not prove, and a share of the rest; "
        "after so many seconds nothing more is begun",
    )
    group.addoption(
        "--full-proof",
        action="store_true",
        help="leave out what has passed since the last full proof was begun, and write tests/proof.csv at its end",
    )


def pytest_configure(config):
    if config.getoption("proof_within") is not None:
        config.pluginmanager.register(Bounded(config.getoption("proof_within")), "bounded-proof")
    elif config.getoption("full_proof"):
        config.pluginmanager.register(Full(), "full-proof")


def case_of(item):
    """The ID of the case that a test is about, or None."""
    return item.callspec.params.get("target") if hasattr(item, "callspec") else None


def reproduced(item):
    """The ID of the case that a test reproduces as a whole, or None."""
    return case_of(item) if item.get_closest_marker("reproduction") else None


class Bounded:
    """Runs what the plan has chosen, for a limited time, and says what was not run."""

    def __init__(self, within_s):
        self.within_s, self.begun, self.too_late = within_s, None, []
        self.commit, self.table = proof.commit(), proof.read(proof.TABLE)
        self.plan = proof.plan(Catalog(proof.ROOT), self.table, self.commit.removesuffix("-dirty"), proof.lacking())

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        order = {name: number for number, name in enumerate(self.plan.chosen)}
        chosen = [item for item in items if reproduced(item) in order]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = sorted(chosen, key=lambda item: order[reproduced(item)])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.begun = self.begun or time.monotonic()
        name = reproduced(item)
        if self.plan.chosen[name] != proof.SEED and time.monotonic() - self.begun > self.within_s:
            self.too_late.append(name)
            pytest.skip(f"not run: {self.within_s:g} s are over")

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("whole reproductions")
        for name, why in self.plan.chosen.items():
            terminalreporter.line(f"{name}: {why}" + (": NOT RUN, out of time" if name in self.too_late else ""))
        for name, why in self.plan.left_out.items():
            terminalreporter.line(f"{name}: {proof.CHANGED}: NOT RUN, {why}")
        dates = sorted(self.table[name].date[:10] for name in self.plan.standing)
        between = f" ({dates[0]} to {dates[-1]})" if dates else ""
        terminalreporter.line(f"{len(dates)} more cases stand on {proof.TABLE.name}{between}")


class Full:
    """Notes what has passed, so that a second command goes on where the first was stopped, and writes the table."""

    def __init__(self):
        self.rows, self.today = proof.read(proof.BEGUN), proof.keys(Catalog(proof.ROOT))
        self.commit = proof.commit()
        self.left, self.names, self.keys = set(), {}, {}

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, config, items):
        # Before -k takes some of them away: a part of a proof is no whole one.
        every = [item for item in items if item.get_closest_marker("real")]
        self.names = {item.nodeid: reproduced(item) or item.nodeid for item in every}
        self.keys = {item.nodeid: self.today.get(case_of(item), "") for item in every}
        done = {item for item in every if self._is_done(item.nodeid)}
        self.left = {item.nodeid for item in every if item not in done}
        result = yield
        config.hook.pytest_deselected(items=[item for item in items if item in done])
        items[:] = [item for item in items if item not in done]
        return result

    def _is_done(self, test):
        row = self.rows.get(self.names[test])
        return row is not None and row.key == self.keys[test]

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.left.discard(report.nodeid)
        if report.when == "call" and report.passed:
            self._note(report)
            self.left.discard(report.nodeid)

    def _note(self, report):
        name, said = self.names.get(report.nodeid, report.nodeid), dict(report.user_properties)
        self.rows[name] = proof.Row(
            name=name,
            key=self.keys.get(report.nodeid, ""),
            verdict=said.get("verdict", "passed"),
            drift=str(said.get("drift", "")),
            seconds=f"{report.duration:.0f}",
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=proof.this_machine(),
            commit=self.commit,
        )
        proof.write(proof.BEGUN, self.rows.values())

    def pytest_sessionfinish(self, exitstatus):
        if exitstatus == 0 and not self.left:
            # A case that this machine cannot run keeps its row.
            rows = proof.read(proof.TABLE) | self.rows
            proof.write(proof.TABLE, [row for name, row in rows.items() if proof.stands(row, self.today.get(name, ""))])
            proof.BEGUN.unlink(missing_ok=True)

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("full proof")
        if self.left:
            terminalreporter.line(f"{len(self.left)} tests are left: the same command goes on ({proof.BEGUN.name})")
        else:
            terminalreporter.line(f"whole: the table is {proof.TABLE.relative_to(proof.ROOT)}")
