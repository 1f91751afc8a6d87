"""Pytest options for whole reproductions: a bounded proof of a few cases,
and a full one that can be stopped.
"""

import time
from datetime import UTC, datetime

import pytest

from runner.bugs.catalog import Catalog
from runner.errors import TrainbugsError
from support import proof


def pytest_addoption(parser):
    group = parser.getgroup("proof", "whole reproductions")
    group.addoption(
        "--proof-within",
        type=float,
        metavar="SECONDS",
        help=(
            "of the real tests, only reproduce the seed bugs, what no full proof has proven, and a "
            "share of the rest; SECONDS after the first of them has begun, no other but those of "
            "the seed bugs begins"
        ),
    )
    group.addoption(
        "--full-proof",
        action="store_true",
        help=(
            "leave out what has passed since the last full proof was begun, and write "
            "tests/proof.csv once all cases have"
        ),
    )
    group.addoption(
        "--proof-jobs", type=int, metavar="N", help="runs of a case at a time; default: 2"
    )
    group.addoption(
        "--proof-executor",
        default="local",
        metavar="WHERE",
        help="where whole reproductions run, as `trainbugs run --executor`; default: this machine",
    )


@pytest.fixture
def spread(request):
    """How the runs of a whole reproduction are spread, as options of a session."""
    jobs = request.config.getoption("proof_jobs")
    where = request.config.getoption("proof_executor")
    if jobs is None and where == "local":
        jobs = 2
    return {"jobs": jobs, "executor": where}


def pytest_configure(config):
    within, full = config.getoption("proof_within"), config.getoption("full_proof")
    if within is None and not full:
        return
    if within is not None and full:
        raise pytest.UsageError("--proof-within and --full-proof exclude each other; name one")
    if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
        raise pytest.UsageError("a proof has one environment on the disk at a time: leave out -n")
    if within is not None:
        config.pluginmanager.register(Bounded(within), "bounded-proof")
        return
    narrowing = [config.getoption(name, None) for name in ("lf", "ignore", "ignore_glob")]
    if config.args_source is config.ArgsSource.ARGS or any(narrowing):
        raise pytest.UsageError(
            "--full-proof is of all tests: name none (-k may choose those that run now)"
        )
    commit = proof.commit()
    if len(commit) != 40:
        mend = "commit or remove what `git status` shows" if commit else "run it in a git checkout"
        raise pytest.UsageError(f"--full-proof writes down which commit it proves: {mend}")
    config.pluginmanager.register(Full(commit), "full-proof")


def case_of(item):
    """The ID of the case that a test is about, or None."""
    return item.callspec.params.get("target") if hasattr(item, "callspec") else None


def reproduced(item):
    """The ID of the case that a test reproduces as a whole, or None."""
    return case_of(item) if item.get_closest_marker("reproduction") else None


class Bounded:
    """Runs what the plan has chosen, for a limited time, and says what became of each case."""

    def __init__(self, within_s):
        self.within_s = within_s
        self.start = None
        self.table = proof.proven()
        commit = proof.commit().removesuffix("-dirty")
        needs = proof.missing_needs()
        try:
            self.plan = proof.plan(Catalog(proof.ROOT), self.table, commit, needs, within_s)
        except TrainbugsError as error:
            raise pytest.UsageError(str(error)) from error
        self.names = {}
        self.results = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        order = {name: number for number, name in enumerate(self.plan.reasons)}
        selected = [item for item in items if reproduced(item) in order]
        config.hook.pytest_deselected(items=[item for item in items if item not in selected])
        items[:] = sorted(selected, key=lambda item: order[reproduced(item)])
        self.names = {item.nodeid: reproduced(item) for item in items}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.start = self.start or time.monotonic()
        reason = self.plan.reasons[reproduced(item)]
        if reason != proof.SEED and time.monotonic() - self.start > self.within_s:
            pytest.skip(f"not run: {self.within_s:g} s are over")

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.results[self.names[report.nodeid]] = "FAILED"
        elif report.when == "call" and report.passed:
            self.results[self.names[report.nodeid]] = "REPRODUCED"

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("whole reproductions")
        for name, reason in self.plan.reasons.items():
            terminalreporter.line(f"{name} ({reason}): {self.results.get(name, 'NOT RUN')}")
        for name, obstacle in self.plan.obstacles.items():
            terminalreporter.line(f"{name} ({proof.CHANGED}): NOT RUN, {obstacle}")
        dates = sorted(self.table[name].date[:10] for name in self.plan.standing)
        if dates:
            tables = [table.name for table in (proof.TABLE, proof.BEGUN) if table.exists()]
            terminalreporter.line(
                f"{len(dates)} other cases: proven by {' and '.join(tables)}, "
                f"{dates[0]} to {dates[-1]}"
            )


class Full:
    """Notes what has passed, so that a second command goes on where the first was stopped,
    and writes the table.
    """

    def __init__(self, commit):
        self.commit = commit
        self.rows = proof.read_table(proof.BEGUN)
        self.written = False
        self.waiting = set()
        self.names = {}
        self.keys = {}
        self.passed = {}
        self.unnoted = []

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, config, items):
        # Before -k takes some of them away: a part of a proof is no whole one.
        real = [item for item in items if item.get_closest_marker("real")]
        cases = proof.keys(Catalog(proof.ROOT))
        code = proof.code_key()
        for item in real:
            key = cases.get(case_of(item), "")
            self.names[item.nodeid] = reproduced(item) or item.nodeid
            # What else is tested depends on our own code, too.
            self.keys[item.nodeid] = key if reproduced(item) else f"{code}{key}"
        done = {item for item in real if self._is_done(item.nodeid)}
        self.waiting = {item.nodeid for item in real if item not in done}
        result = yield
        config.hook.pytest_deselected(items=[item for item in items if item in done])
        items[:] = [item for item in items if item not in done]
        return result

    def pytest_report_collectionfinish(self):
        if not self.rows:
            return []
        commits = sorted({row.commit[:7] for row in self.rows.values()})
        return [
            f"goes on with a proof of commits {', '.join(commits)}, "
            f"{len(self.names) - len(self.waiting)} tests done; delete "
            f"{proof.BEGUN.relative_to(proof.ROOT)} to begin anew"
        ]

    def _is_done(self, test):
        row = self.rows.get(self.names[test])
        return row is not None and row.key == self.keys[test]

    def _is_of_a_case(self, test):
        return self.names[test] != test

    def pytest_runtest_logreport(self, report):
        if report.nodeid not in self.names:
            return
        if report.skipped:
            self.waiting.discard(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed[report.nodeid] = report
        elif report.when == "teardown" and report.passed and report.nodeid in self.passed:
            self._note(self.passed[report.nodeid])

    def _note(self, report):
        """Add a row to the table of the proof that was begun,
        unless what was tested has changed meanwhile.
        """
        name = self.names[report.nodeid]
        key = self.keys[report.nodeid]
        properties = dict(report.user_properties)
        try:
            today = proof.keys(Catalog(proof.ROOT)).get(name, key)
        except TrainbugsError:
            today = None
        if (today, proof.commit()) != (key, self.commit):
            self.unnoted.append(name)
            return
        self.waiting.discard(report.nodeid)
        self.rows[name] = proof.Row(
            name=name,
            key=today,
            verdict=properties.get("verdict", "passed"),
            drift=str(properties.get("drift", "")),
            seconds=f"{report.duration:.0f}",
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=proof.this_machine(),
            commit=self.commit,
        )
        proof.write_table(proof.BEGUN, self.rows.values())

    def pytest_sessionfinish(self, session, exitstatus):
        if session.config.option.collectonly or not self.names:
            return
        if self.unnoted and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        cases = {test for test in self.waiting if self._is_of_a_case(test)}
        if cases or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return
        # A case that this machine cannot run keeps its row.
        rows = proof.read_table(proof.TABLE) | self.rows
        today = proof.keys(Catalog(proof.ROOT))
        valid = [row for name, row in rows.items() if proof.stands(row, today.get(name, ""))]
        proof.write_table(proof.TABLE, valid)
        # Rows of other tests tell the next command what it need not run again.
        others = [name for name in self.rows if name in self.names]
        if not (self.waiting and others):
            proof.BEGUN.unlink(missing_ok=True)
        self.written = True
        session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("full proof")
        for name in self.unnoted:
            terminalreporter.line(
                f"{name}: passed, but the checkout was edited meanwhile: to be run again"
            )
        if not self.written:
            cases = sum(map(self._is_of_a_case, self.waiting))
            terminalreporter.line(
                f"not whole, cases left: {cases}, other tests left: {len(self.waiting) - cases}; "
                "the same command goes on"
            )
            return
        table = proof.read_table(proof.TABLE)
        terminalreporter.line(
            f"whole: {proof.TABLE.relative_to(proof.ROOT)} proves {len(table)} cases; commit it"
        )
        if self.waiting:
            terminalreporter.line(f"other real tests left: {len(self.waiting)}")
        for name in sorted(set(proof.keys(Catalog(proof.ROOT))) - set(table)):
            terminalreporter.line(f"{name}: NOT RUN")
