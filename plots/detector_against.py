"""A detector against others: the cases that one alone of a pair finds."""

from pathlib import Path
from typing import TYPE_CHECKING

from plots.style import COLUMN_INCHES, column, new_figure, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

ROW_INCHES, HEAD_INCHES = 0.19, 1.0
MINE, OTHER = (0.0, 0.447, 0.698), (0.835, 0.369, 0.0)
SIGNIFICANT = 0.05


def draw_against(versus: "pd.DataFrame", path: Path) -> Path | None:
    """Draw the pairs of `Against.versus` as bars, as wide as a column; None where there is none."""
    if versus.empty:
        return None
    with column():
        return save(against_figure(versus), path)


def against_figure(versus: "pd.DataFrame") -> "Figure":
    """The figure of pairs: to the right the cases that yours alone find, to the left the others'.

    A star marks p < 0.05 after Holm.
    """
    ordered = versus.assign(lead=versus.only_first - versus.only_second)
    ordered = ordered.sort_values("lead", kind="stable").reset_index(drop=True)
    figure = new_figure(1)
    figure.set_size_inches(COLUMN_INCHES, HEAD_INCHES + ROW_INCHES * len(ordered))
    axes = figure.subplots()
    axes.barh(ordered.index, ordered.only_first, color=MINE, label="yours alone")
    axes.barh(ordered.index, -ordered.only_second, color=OTHER, label="the other alone")
    has_one_row = ordered["first"].nunique() == 1
    names = []
    for _, row in ordered.iterrows():
        star = " *" if row.p_holm < SIGNIFICANT else ""
        name = row.second if has_one_row else f"{row['first']} | {row.second}"
        names.append(f"{name}{star}")
    axes.set_yticks(ordered.index, names)
    axes.axvline(0, color="black", linewidth=0.6)
    most = max(1, int(ordered[["only_first", "only_second"]].to_numpy().max()))
    axes.set_xlim(-most * 1.1, most * 1.1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axes.set_xlabel("cases found by one alone")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
