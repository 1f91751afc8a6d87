"""What can go wrong for a user: every message is one line that says what, where, what was expected, what to do."""


class TrainbugsError(Exception):
    """The base of all; only `trainbugs.cli.main.main` catches it, prints its line and exits with status 2."""


class UsageError(TrainbugsError):
    """What was asked for does not exist or does not fit together."""


class CatalogError(TrainbugsError):
    """A bug directory or an environment directory is malformed."""


class ProcessError(TrainbugsError):
    """A program could not be started."""


class EnvironmentBuildError(TrainbugsError):
    """An environment could not be built, or what was built is broken."""


class ResultsError(TrainbugsError):
    """A results folder cannot be read or written."""


class MeasureError(TrainbugsError):
    """A metric that an expectation or a figure asks for is missing or is not a finite number."""


class ClusterError(TrainbugsError):
    """A cluster cannot be reached or was lost, or it could not do a call; the call itself may be right."""


class WorkerLostError(ClusterError):
    """Every worker that tried a call was lost while it did. The call may be what kills them."""
