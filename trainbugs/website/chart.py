"""Training curves as SVG, which needs no script: buggy and fixed in the same axes,
with the range over seeds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runner.bugs.case import Case
from runner.bugs.figures import Line, Panel
from runner.bugs.program import VARIANTS
from runner.errors import MeasureError
from runner.expectations.series import measure, select
from runner.results.record import RunRecord

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 12, 44
SMALL = 12
# More points than this are drawn one in so many.
MAX_POINTS = 1_000
TICKS = 5
# Remainders of styles for lines that config.json calls dashed, and for all others.
DASHED_STYLES, SOLID_STYLES = (1, 2), (0, 3)
# The range around zero in which a symlog axis is linear, as in Matplotlib.
LINEAR = 2.0


@dataclass(frozen=True)
class Curve:
    """One line of a panel: the mean over the seeds, and their range, at each x."""

    label: str
    variant: str
    style: int
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class PanelChart:
    """A panel: its SVG parts, its legend, and the data behind it for a script."""

    label: str
    x_label: str
    scale: str
    curves: tuple[Curve, ...]
    svg: str
    data: dict[str, Any]
    every: int


def panels(case: Case, records: Sequence[RunRecord]) -> list[PanelChart]:
    """The panels of a case, from its finished runs of both variants;
    none for a case with a heat map.

    Raises MeasureError where a metric is missing, or the runs of a variant differ in length.
    """
    finished = [record for record in records if record.ok and record.variant in VARIANTS]
    return [_panel(case, panel, finished) for panel in case.plot.panels] if finished else []


def _panel(case: Case, panel: Panel, records: Sequence[RunRecord]) -> PanelChart:
    curves = _curves(case, panel, records)
    longest = max(len(curve.x) for curve in curves)
    every = -(-longest // MAX_POINTS)
    drawn = tuple(_thinned(curve, every) for curve in curves)
    axes = _Axes.around(drawn, panel.scale)
    svg = [
        *axes.grid(case.plot.x),
        *(axes.band(curve) for curve in drawn),
        *(axes.line(curve) for curve in drawn),
    ]
    return PanelChart(
        panel.label, case.plot.x, panel.scale, drawn, "".join(svg), axes.data(drawn), every
    )


def _curves(case: Case, panel: Panel, records: Sequence[RunRecord]) -> list[Curve]:
    """The curves of each line of a panel, of the variants that have runs."""
    curves = []
    for line, style in zip(panel.lines, _styles(panel), strict=True):
        for variant in VARIANTS:
            runs = [record for record in records if record.variant == variant]
            label = variant if len(panel.lines) == 1 else f"{variant}, {line.label}"
            if runs:
                curves.append(_curve(case, line, style, variant, runs, label))
    return curves


def _styles(panel: Panel) -> list[int]:
    """A number for each line of a panel, all different;
    its remainder by 4 is how the line is broken, 0 not at all.
    """
    styles: list[int] = []
    counts = {True: 0, False: 0}
    for line in panel.lines:
        dashed = bool(line.dashed)
        remainders = DASHED_STYLES if dashed else SOLID_STYLES
        cycle, number = divmod(counts[dashed], len(remainders))
        styles.append(remainders[number] + 4 * cycle)
        counts[dashed] += 1
    return styles


def _curve(
    case: Case, line: Line, style: int, variant: str, runs: Sequence[RunRecord], label: str
) -> Curve:
    x_rows = [select(case.plot.x, line.where, run.metrics, variant) for run in runs]
    y_rows = []
    for run in runs:
        row = measure(line, variant, {variant: run.metrics})
        y_rows.append([_number(value) for value in row])
    if len({len(row) for row in (*x_rows, *y_rows)}) > 1:
        raise MeasureError(f"{variant} runs differ in the number of records of {line.metric!r}")
    columns = list(zip(*y_rows, strict=True))
    return Curve(
        label=label,
        variant=variant,
        style=style,
        x=tuple(_number(value) for value in x_rows[0]),
        mean=tuple(math.fsum(column) / len(column) for column in columns),
        low=tuple(map(min, columns)),
        high=tuple(map(max, columns)),
    )


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise MeasureError(f"{value!r} is no number, and cannot be drawn")
    return float(value)


def _thinned(curve: Curve, every: int) -> Curve:
    """The curve with one point in so many."""
    if every == 1:
        return curve
    return replace(
        curve,
        x=curve.x[::every],
        mean=curve.mean[::every],
        low=curve.low[::every],
        high=curve.high[::every],
    )


@dataclass(frozen=True)
class _Axes:
    """A pair of axes: what is shown of x and y, and how y is scaled."""

    x: tuple[float, float]
    y: tuple[float, float]
    scale: str

    @classmethod
    def around(cls, curves: Sequence[Curve], scale: str) -> "_Axes":
        """The axes that show whole curves."""
        xs = [value for curve in curves for value in curve.x]
        ys = [value for curve in curves for value in (*curve.low, *curve.high)]
        if scale == "log":
            # What is not above zero has no place on a logarithmic axis.
            ys = [value for value in ys if value > 0] or [1.0]
        scaled = SCALES[scale]
        low, high = scaled(min(ys)), scaled(max(ys))
        margin = (high - low) * 0.05 or 0.5
        first_x, last_x = min(xs), max(xs)
        if first_x == last_x:
            first_x, last_x = first_x - 0.5, last_x + 0.5
        return cls((first_x, last_x), (low - margin, high + margin), scale)

    def to_x(self, value: float) -> float:
        share = (value - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def to_y(self, value: float) -> float:
        scaled = self.y[0]
        if self.scale != "log" or value > 0:
            scaled = SCALES[self.scale](value)
        share = (scaled - self.y[0]) / (self.y[1] - self.y[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def grid(self, x_label: str) -> list[str]:
        """The grid with its ticks, the axes and the label of x: the caption below names y, and a
        label beside wide ticks would lie on top of them.
        """
        from html import escape

        return [
            *self._y_grid(),
            *self._x_ticks(),
            f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>',
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">{escape(x_label)}</text>',
        ]

    def _y_grid(self) -> list[str]:
        parts = []
        for value in _y_ticks(self.y, self.scale):
            y = self.to_y(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            place = f'x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end"'
            parts.append(f"<text {place}>{value:.4g}</text>")
        return parts

    def _x_ticks(self) -> list[str]:
        parts = []
        for value in _nice(*self.x, whole=True):
            place = f'x="{self.to_x(value):.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle"'
            parts.append(f"<text {place}>{value:g}</text>")
        return parts

    def _points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        return "L".join(
            f"{self.to_x(x):.1f} {self.to_y(y):.1f}" for x, y in zip(xs, ys, strict=True)
        )

    def band(self, curve: Curve) -> str:
        """The range over the seeds."""
        if curve.low == curve.high:
            return ""
        upper = self._points(curve.x, curve.high)
        lower = self._points(curve.x[::-1], curve.low[::-1])
        style = f'class="band {curve.variant}" data-curve="{_id(curve)}"'
        return f'<path {style} d="M{upper}L{lower}Z"/>'

    def line(self, curve: Curve) -> str:
        """The mean over the seeds, with its name, and a dot at each point where these are few."""
        style = f'class="line {curve.variant} dash{curve.style % 4}"'
        path = f'<path {style} d="M{self._points(curve.x, curve.mean)}"/>'
        dots = self._dots(curve) if len(curve.x) <= SMALL else ""
        return f'<g data-curve="{_id(curve)}">{path}{dots}{self._name(curve)}</g>'

    def _dots(self, curve: Curve) -> str:
        dots = []
        for x, y in zip(curve.x, curve.mean, strict=True):
            place = f'cx="{self.to_x(x):.1f}" cy="{self.to_y(y):.1f}" r="2.6"'
            dots.append(f'<circle class="dot {curve.variant}" {place}/>')
        return "".join(dots)

    def _name(self, curve: Curve) -> str:
        """The word at a line, for readers who cannot tell the colours;
        the words of the two variants are apart.
        """
        third = len(curve.x) // 3 if curve.variant == "buggy" else 2 * len(curve.x) // 3
        x, y = self.to_x(curve.x[third]), self.to_y(curve.mean[third])
        above = max(y - 6, TOP + 12.0)
        place = f'x="{x:.1f}" y="{above:.1f}" text-anchor="middle"'
        return f'<text class="of {curve.variant}" {place}>{curve.variant}</text>'

    def data(self, curves: Sequence[Curve]) -> dict[str, Any]:
        """The box of the axes and the points of the curves, for the script of the page."""
        box = [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM]
        return {"box": box, "curves": [self._curve_data(curve) for curve in curves]}

    def _curve_data(self, curve: Curve) -> dict[str, Any]:
        data = {
            "label": curve.label,
            "variant": curve.variant,
            "x": _short(curve.x),
            "px": [round(self.to_x(value), 1) for value in curve.x],
            "py": [round(self.to_y(value), 1) for value in curve.mean],
            "mean": _short(curve.mean),
        }
        if curve.low != curve.high:
            data |= {"low": _short(curve.low), "high": _short(curve.high)}
        return data


def _id(curve: Curve) -> str:
    return f"{curve.variant}-{curve.style}"


def _short(numbers: Sequence[float]) -> list[float | int]:
    """Numbers with four digits: what a reader sees of them."""
    rounded = [float(f"{number:.4g}") for number in numbers]
    return [_whole(number) for number in rounded]


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _symlog(value: float) -> float:
    if abs(value) <= LINEAR:
        return value / LINEAR
    return math.copysign(1 + math.log10(abs(value) / LINEAR), value)


def _log(value: float) -> float:
    return math.log10(value)


def _linear(value: float) -> float:
    return value


SCALES: dict[str, Callable[[float], float]] = {"linear": _linear, "log": _log, "symlog": _symlog}


def _y_ticks(shown: tuple[float, float], scale: str) -> list[float]:
    """The values at the ticks; `shown` is the range after scaling."""
    if scale == "linear":
        return _nice(*shown)
    return _log_ticks(*shown) if scale == "log" else _symlog_ticks(*shown)


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, or two values where there is at most one of these."""
    first, last = math.ceil(low), math.floor(high)
    step = max(1, math.ceil((last - first) / TICKS))
    powers = [10.0**exponent for exponent in range(first, last + 1, step)]
    if len(powers) > 1:
        return powers
    return [10**exponent for exponent in (low * 0.9 + high * 0.1, (low + high) / 2)]


def _symlog_ticks(low: float, high: float) -> list[float]:
    """Zero, and powers of ten on both sides of it."""
    step = max(1, math.ceil(max(abs(low), abs(high)) / TICKS))
    powers = [10.0**exponent for exponent in range(0, 300, step)]
    candidates = sorted([0.0, *powers, *(-power for power in powers)])
    return [value for value in candidates if low <= _symlog(value) <= high]


def _nice(low: float, high: float, whole: bool = False) -> list[float]:
    """About five round numbers between two; only whole ones, if asked."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.7 * raw)
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]
