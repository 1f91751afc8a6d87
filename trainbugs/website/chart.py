"""Training curves as SVG, which needs no script: buggy and fixed in the same axes, with the range over seeds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
class Drawn:
    """A panel: its SVG parts, its legend, and the data behind it for a script."""

    label: str
    x_label: str
    scale: str
    curves: tuple[Curve, ...]
    svg: str
    data: dict[str, Any]
    every: int


def panels(case: Case, records: Sequence[RunRecord]) -> list[Drawn]:
    """The panels of a case, from its finished runs of both variants; none for a case with a heat map.

    Raises MeasureError where a metric is missing, or the runs of a variant differ in length.
    """
    done = [record for record in records if record.ok and record.variant in VARIANTS]
    return [_panel(case, panel, done) for panel in case.plot.panels] if done else []


def _panel(case: Case, panel: Panel, records: Sequence[RunRecord]) -> Drawn:
    runs = {variant: [each for each in records if each.variant == variant] for variant in VARIANTS}
    curves = [
        _curve(case, line, style, variant, runs[variant], len(panel.lines) == 1)
        for line, style in zip(panel.lines, _styles(panel), strict=True)
        for variant in VARIANTS
        if runs[variant]
    ]
    longest = max(len(curve.x) for curve in curves)
    every = -(-longest // MAX_POINTS)
    thin = tuple(_thinned(curve, every) for curve in curves)
    axes = _Axes.of(thin, panel.scale)
    parts = [
        *axes.grid(case.plot.x, panel.label),
        *(axes.band(c) for c in thin),
        *(axes.line(c) for c in thin),
    ]
    return Drawn(
        panel.label, case.plot.x, panel.scale, thin, "".join(parts), axes.data(thin), every
    )


def _styles(panel: Panel) -> list[int]:
    """A number for each line of a panel, all different; its remainder by 4 is how the line is broken, 0 not at all."""
    made: list[int] = []
    for index, line in enumerate(panel.lines):
        before = sum(other.dashed == line.dashed for other in panel.lines[:index])
        made.append(
            (1, 2)[before % 2] + 4 * (before // 2)
            if line.dashed
            else (0, 3)[before % 2] + 4 * (before // 2)
        )
    return made


def _curve(
    case: Case, line: Line, style: int, variant: str, runs: Sequence[RunRecord], alone: bool
) -> Curve:
    x = [select(case.plot.x, line.where, run.metrics, variant) for run in runs]
    y = [
        [_number(value) for value in measure(line, variant, {variant: run.metrics})] for run in runs
    ]
    if len({len(row) for row in (*x, *y)}) > 1:
        raise MeasureError(f"{variant} runs differ in the number of records of {line.metric!r}")
    columns = list(zip(*y, strict=True))
    return Curve(
        variant if alone else f"{variant}, {line.label}",
        variant,
        style,
        tuple(_number(value) for value in x[0]),
        tuple(math.fsum(column) / len(column) for column in columns),
        tuple(map(min, columns)),
        tuple(map(max, columns)),
    )


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise MeasureError(f"{value!r} is no number, and cannot be drawn")
    return float(value)


def _thinned(curve: Curve, every: int) -> Curve:
    if every == 1:
        return curve
    parts = (each[::every] for each in (curve.x, curve.mean, curve.low, curve.high))
    return Curve(curve.label, curve.variant, curve.style, *parts)


@dataclass(frozen=True)
class _Axes:
    """A pair of axes: what is shown of x and y, and how y is scaled."""

    x: tuple[float, float]
    y: tuple[float, float]
    scale: str

    @classmethod
    def of(cls, curves: Sequence[Curve], scale: str) -> "_Axes":
        xs = [value for curve in curves for value in curve.x]
        ys = [value for curve in curves for value in (*curve.low, *curve.high)]
        if scale == "log":
            # What is not above zero has no place on a logarithmic axis.
            ys = [value for value in ys if value > 0] or [1.0]
        forward = SCALES[scale]
        low, high = forward(min(ys)), forward(max(ys))
        room = (high - low) * 0.05 or 0.5
        left, right = min(xs), max(xs)
        return cls(
            (left - 0.5, right + 0.5) if left == right else (left, right),
            (low - room, high + room),
            scale,
        )

    def to_x(self, value: float) -> float:
        share = (value - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def to_y(self, value: float) -> float:
        at = SCALES[self.scale](value) if self.scale != "log" or value > 0 else self.y[0]
        return (
            HEIGHT - BOTTOM - (at - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)
        )

    def grid(self, x_label: str, y_label: str) -> list[str]:
        from html import escape

        parts = []
        for value in _y_ticks(self.y, self.scale):
            at = self.to_y(value)
            parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
            parts.append(
                f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.4g}</text>'
            )
        for value in _nice(*self.x, whole=True):
            at = self.to_x(value)
            parts.append(
                f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{value:g}</text>'
            )
        middle = (TOP + HEIGHT - BOTTOM) / 2
        parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>'
        )
        parts.append(
            f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>'
        )
        return parts

    def _points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        return "L".join(
            f"{self.to_x(x):.1f} {self.to_y(y):.1f}" for x, y in zip(xs, ys, strict=True)
        )

    def band(self, curve: Curve) -> str:
        if curve.low == curve.high:
            return ""
        there, back = (
            self._points(curve.x, curve.high),
            self._points(curve.x[::-1], curve.low[::-1]),
        )
        return (
            f'<path class="band {curve.variant}" data-curve="{_id(curve)}" d="M{there}L{back}Z"/>'
        )

    def line(self, curve: Curve) -> str:
        path = f'<path class="line {curve.variant} dash{curve.style % 4}" d="M{self._points(curve.x, curve.mean)}"/>'
        dots = "".join(
            f'<circle class="dot {curve.variant}" cx="{self.to_x(x):.1f}" cy="{self.to_y(y):.1f}" r="2.6"/>'
            for x, y in (zip(curve.x, curve.mean, strict=True) if len(curve.x) <= SMALL else ())
        )
        return f'<g data-curve="{_id(curve)}">{path}{dots}{self._name(curve)}</g>'

    def _name(self, curve: Curve) -> str:
        """The word at a line: who cannot tell the colours reads it. Those of the two variants are apart."""
        at = len(curve.x) // 3 if curve.variant == "buggy" else 2 * len(curve.x) // 3
        x, y = self.to_x(curve.x[at]), self.to_y(curve.mean[at])
        above = max(y - 6, TOP + 12.0)
        place = f'x="{x:.1f}" y="{above:.1f}" text-anchor="middle"'
        return f'<text class="of {curve.variant}" {place}>{curve.variant}</text>'

    def data(self, curves: Sequence[Curve]) -> dict[str, Any]:
        return {
            "box": [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM],
            "curves": [
                {
                    "label": curve.label,
                    "variant": curve.variant,
                    "x": [_short(value) for value in curve.x],
                    "px": [round(self.to_x(value), 1) for value in curve.x],
                    "py": [round(self.to_y(value), 1) for value in curve.mean],
                    "mean": [_short(value) for value in curve.mean],
                    **(
                        {
                            "low": [_short(v) for v in curve.low],
                            "high": [_short(v) for v in curve.high],
                        }
                        if curve.low != curve.high
                        else {}
                    ),
                }
                for curve in curves
            ],
        }


def _id(curve: Curve) -> str:
    return f"{curve.variant}-{curve.style}"


def _short(value: float) -> float | int:
    """Four digits: what a reader sees of it."""
    rounded = float(f"{value:.4g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


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
    if scale == "log":
        low, high = math.ceil(shown[0]), math.floor(shown[1])
        step = max(1, math.ceil((high - low) / TICKS))
        powers = [10.0**power for power in range(low, high + 1, step)]
        return (
            powers
            if len(powers) > 1
            else [10**at for at in (shown[0] * 0.9 + shown[1] * 0.1, sum(shown) / 2)]
        )
    powers = [
        10.0**power for power in range(0, 300, max(1, math.ceil(max(map(abs, shown)) / TICKS)))
    ]
    candidates = [0.0, *(sign * power for power in powers for sign in (1, -1))]
    return [value for value in sorted(candidates) if shown[0] <= _symlog(value) <= shown[1]]


def _nice(low: float, high: float, whole: bool = False) -> list[float]:
    """About five round numbers between two; only whole ones, if asked."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.7 * raw)
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 12) for index in range(first, math.floor(high / step + 1e-9) + 1)]
