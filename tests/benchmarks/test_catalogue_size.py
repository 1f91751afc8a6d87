"""The page on machines has the measured costs of growing catalogues."""

import json

from support.paths import ROOT

COUNTS = (100, 1000, 10_000)


def measured():
    """By command, the cells of its row; "-" where it was not run."""
    costs = json.loads((ROOT / "benchmarks" / "catalogue_size.json").read_text())
    by_run = {(cost["command"], cost["bugs"]): cost for cost in costs}
    rows = {}
    for command in dict.fromkeys(cost["command"] for cost in costs):
        cells = rows[command] = []
        for count in COUNTS:
            cost = by_run.get((command, count))
            cells += [f"{cost['seconds']:,.1f}", f"{cost['memory_mb']:,}"] if cost else ["-", "-"]
    return rows


def test_the_table_is_the_measured_one():
    page = (ROOT / "docs" / "machines.md").read_text()
    rows = measured()
    assert len(rows) == 5
    for command, cells in rows.items():
        name = f"`{command}`" + (", without figures" if command == "scores" else "")
        assert f"| {name} | {' | '.join(cells)} |" in page


def test_no_command_grows_faster_than_n_log_n():
    """From 100 to 10,000, n log n doubles the cost of a bug; a third of that is measurement."""
    costs = json.loads((ROOT / "benchmarks" / "catalogue_size.json").read_text())
    first = {cost["command"]: cost["seconds"] / 100 for cost in costs if cost["bugs"] == 100}
    for cost in costs:
        assert cost["seconds"] / cost["bugs"] < 3 * first[cost["command"]]
