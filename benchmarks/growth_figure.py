"""Draws docs/growth.png from catalogue_size.json: what commands cost as the catalogue grows.

python benchmarks/growth_figure.py
"""

import json
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
PANELS = (("seconds", "processor seconds"), ("memory_mb", "largest memory, MB"))
# Of the palette of Okabe and Ito, as the other figures are.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000")
MARKERS = "os^Dv"


def main() -> None:
    rows = json.loads((ROOT / "benchmarks" / "catalogue_size.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots(1, len(PANELS))
    for ax, (key, label) in zip(axes, PANELS, strict=True):
        draw(ax, rows, key)
        ax.set(xscale="log", yscale="log", xlabel="bugs", ylabel=label)
    counts = sorted({row["bugs"] for row in rows})
    seconds = [counts[0] / 100, counts[-1] / 100]
    axes[0].plot([counts[0], counts[-1]], seconds, color="0.6", linestyle=":", label="10 ms a bug")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(ROOT / "docs" / "growth.png", dpi=150)


def draw(ax: Axes, rows: list[dict[str, float | str]], key: str) -> None:
    """A line for each command."""
    commands = dict.fromkeys(str(row["command"]) for row in rows)
    for command, color, marker in zip(commands, COLORS, MARKERS, strict=True):
        own = [row for row in rows if row["command"] == command]
        ax.plot(
            [float(row["bugs"]) for row in own],
            [float(row[key]) for row in own],
            color=color, marker=marker, label=command,
        )  # fmt: skip


if __name__ == "__main__":
    main()
