"""Errors for users: each message is one line that says what is wrong, where, what was expected, and
what to do.
"""


class TrainbugsError(Exception):
    """The base class; `trainbugs.cli.main.main` alone ends the program for one: it prints the line
    and exits with 2.
    """


class UsageError(TrainbugsError):
    """What the user asked for does not exist, or its parts do not fit together."""


class CatalogError(TrainbugsError):
    """A bug directory or an environment directory is malformed."""


class ProcessError(TrainbugsError):
    """A program could not be started."""


class EnvironmentBuildError(TrainbugsError):
    """An environment could not be built, or what was built is broken."""


class UnusableError(EnvironmentBuildError):
    """An interpreter cannot be started, or cannot import its torch."""


class UnbuiltError(EnvironmentBuildError):
    """One environment could not be built: its packages, its lock or its size are the reason, so
    that others may be fine.
    """


class ResultsError(TrainbugsError):
    """A results folder cannot be read or written."""


class MeasureError(TrainbugsError):
    """A metric that an expectation or a figure asks for is missing or is not a finite number."""


class ClusterError(TrainbugsError):
    """A cluster cannot be reached, was lost, or could not execute a call; the call itself may be
    correct.
    """


class WorkerLostError(ClusterError):
    """Every worker that tried a call was lost during it. The call may be what kills them."""
