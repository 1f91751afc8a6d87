"""What a person is told of a report: one line that sums it up, and the rows of the tables."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation.watching.cures import cure_of
from evaluation.watching.report import WatchedAlarm, WatchReport
from evaluation.watching.silencing import Silencing

HEADING = ("WHAT", "SEVERITY", "WHERE", "SINCE", "TO SILENCE IT")
SILENCERS = {"comment": "comments", "baseline": "the baseline"}


class TableEntry(NamedTuple):
    """A row of the table, and the text below it."""

    row: tuple[str, ...]
    text: str


def entries(alarms: Sequence[WatchedAlarm], folder: str) -> list[TableEntry]:
    """The rows of the table; files are told from the working directory,
    `folder` is that of the script.
    """
    return [TableEntry(_row(alarm, folder), _text(alarm)) for alarm in alarms]


def summary(silencing: Silencing, ignored: Sequence[str]) -> str:
    """What was seen, in one line."""
    report = silencing.audible
    parts = [_outcome(report)]
    if report.error:
        parts[0] += ", until the sanitizer failed"
    if ignored:
        parts.append(f"ignored: {', '.join(ignored)}")
    for reason, count in silencing.counts():
        parts.append(f"{_count(count, 'finding')} silenced by {SILENCERS[reason]}")
    return "; ".join(parts)


def hints(silencing: Silencing, known: Sequence[str], script: str | None = None) -> list[str]:
    """A line for each comment that names no invariant, or one that there is not; `known` are the
    names they have.
    """
    lines = [
        f"{place}: a comment ignores nothing; name an invariant: # trainbugs: ignore[NAME]"
        for place in silencing.comments_without_names(script)
    ]
    for comment in silencing.unknown_names(known, script):
        close = difflib.get_close_matches(comment.name, known, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        lines.append(
            f"{comment.file}:{comment.line}: a comment ignores {comment.name!r}, but there is no "
            f"such invariant{hint}"
        )
    return lines


def _outcome(report: WatchReport) -> str:
    if report.is_empty and not report.optimizers:
        return "nothing was watched: no optimizer made a step"
    if report.is_empty:
        return f"nothing was watched: {_count(report.optimizers, 'optimizer')}, and no step"
    extent = f"in {_count(report.steps, 'step')} of {_count(report.optimizers, 'optimizer')}"
    if report.ranks > 1:
        extent += f" on {report.ranks} ranks"
    broken = len({alarm.code for alarm in report.broken})
    advice = len({alarm.code for alarm in report.advice})
    if broken:
        text = f"{_count(broken, 'invariant')} {'was' if broken == 1 else 'were'} broken {extent}"
        return f"{text}, and there is advice on {_count(advice, 'other')}" if advice else text
    if advice:
        return f"no error was seen {extent}, but there is advice on {_count(advice, 'invariant')}"
    return f"no invariant was broken {extent}"


def _row(alarm: WatchedAlarm, folder: str) -> tuple[str, ...]:
    where = f"{Path(folder, alarm.file)}:{alarm.line}" if alarm.file else "-"
    return (
        alarm.code,
        alarm.severity,
        where,
        f"iteration {alarm.iteration}",
        f"--ignore {alarm.code}",
    )


def _text(alarm: WatchedAlarm) -> str:
    parameter = f" (parameter {alarm.parameter})" if alarm.parameter else ""
    cure = cure_of(alarm.code, alarm.message)
    advice = f". What may mend it: {cure}" if cure else ""
    return f"{alarm.message}{parameter}{advice}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
