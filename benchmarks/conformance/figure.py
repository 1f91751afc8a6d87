"""The figure of the tables: docs/conformance.png,
a panel for the release of PyTorch-115607 and for the current one.

.venv/bin/python benchmarks/conformance/figure.py
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from plots.style import new_figure, save, styled

HERE = Path(__file__).resolve().parent
SHOWN = ("torch-2.2.2", "torch-2.13.0")
TARGET = HERE.parents[1] / "docs" / "conformance.png"
# White is what an optimizer has no option for, or what was not tried in that release.
COLOURS = {
    "same": "#9CC9E3",
    "differs": "#E66100",
    "compiled fails": "#7A2E00",
    "refused": "#DDDDDD",
}


def tables() -> dict[str, dict[tuple[str, str], str]]:
    """Release → (variation, optimizer) → outcome."""
    table_by_torch = {}
    for path in (HERE / "tables" / f"{release}.csv" for release in SHOWN):
        with path.open(newline="") as stream:
            table_by_torch[path.stem] = {
                (row["variation"], row["optimizer"]): row["outcome"]
                for row in csv.DictReader(stream)
            }
    return table_by_torch


def main() -> None:
    releases = tables()
    every = [key for table in releases.values() for key in table]
    # A release without an option has fewer rows: the order is that of the longest table.
    longest = max(releases.values(), key=len)
    variations = list(dict.fromkeys(name for name, _ in [*longest, *every]))
    optimizers = sorted({name for _, name in every})
    words = list(COLOURS)
    with styled():
        figure = new_figure(2)
        figure.set_size_inches(11.4, 0.9 + 0.185 * len(variations))
        panels = figure.subplots(1, len(releases), sharey=True, squeeze=False)[0]
        for axes, (release, table) in zip(panels, releases.items(), strict=True):
            shade = np.full((len(variations), len(optimizers)), np.nan)
            for (variation, optimizer), word in table.items():
                shade[variations.index(variation), optimizers.index(optimizer)] = words.index(word)
            colours = ListedColormap(list(COLOURS.values()))
            axes.imshow(shade, cmap=colours, vmin=-0.5, vmax=len(words) - 0.5, aspect="auto")
            axes.set_xticks(range(len(optimizers)), optimizers, rotation=90, fontsize=8)
            axes.set_yticks(range(len(variations)), variations, fontsize=7.5)
            axes.set_title(release, fontsize=10)
            axes.set_xticks(np.arange(len(optimizers)) - 0.5, minor=True)
            axes.set_yticks(np.arange(len(variations)) - 0.5, minor=True)
            axes.grid(visible=False)
            axes.grid(visible=True, which="minor", color="white", alpha=1, linewidth=1)
            axes.tick_params(length=0, which="both")
        patches = [Patch(color=colour, label=word) for word, colour in COLOURS.items()]
        figure.legend(handles=patches, loc="outside lower center", ncols=len(patches))
        figure.suptitle("torch.optim: a compiled step against the ordinary one")
        save(figure, TARGET)


if __name__ == "__main__":
    main()
