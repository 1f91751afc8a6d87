"""The review and the repair track as tasks of inspect_ai, for those who have it.

`registry` is what inspect_ai finds by its entry point: the tasks trainbugs/review and
trainbugs/repair, and a provider that replays answers. `logs` reads what a log says.
"""
