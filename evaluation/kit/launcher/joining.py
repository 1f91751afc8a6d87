"""The end of a watched process: what its other processes, and the other ranks, have seen is added."""

from . import processes, ranks


def join(session):
    """Hand the notes of all processes to the monitor, and add their reports.

    A rank that is not the first one leaves both to that one.
    """
    recorder = session.recorder
    started = processes.reports(recorder)
    team = ranks.find_team()
    if team and not team.is_first:
        recorder.merge(started)
        team.leave(recorder)
        recorder.told_elsewhere = True
        return
    others = team.collect() if team else []
    reports = [*started, *others]
    iterations = max((report["iterations"] for report in reports), default=0)
    session.join([recorder.notes, *(report["notes"] for report in reports)], iterations)
    recorder.merge(started)
    recorder.merge_ranks(others)
