"""The note of what a detector has looked at, on machines where the kernel cannot keep it from the
catalogue.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

# Size of the note; a detector may have written anything there.
MAX_BYTES = 4_000


class Note:
    """A file outside of the detector's folder, to which the kit's catalogue_guard.py adds what a
    detector looks at.

    A detector could empty the file, remove it, or put another one in its place. The kernel dates
    each of these, and no program can set that date: whatever is done to the file shows.
    """

    def __init__(self, descriptor: int, path: Path, guarded: Iterable[Path]) -> None:
        self.descriptor, self.path = descriptor, path
        self.guarded = os.pathsep.join(str(folder.resolve()) for folder in guarded)
        self.created_ns = os.fstat(descriptor).st_ctime_ns

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables by which catalogue_guard.py knows what to guard,
        and where to note it.
        """
        return {"TRAINBUGS_GUARDED": self.guarded, "TRAINBUGS_PEEKED": str(self.path)}

    @property
    def first_path(self) -> str | None:
        """The first path that was looked at, or words in its place;
        None where the note is as it was made.
        """
        if os.fstat(self.descriptor).st_ctime_ns == self.created_ns:
            return None
        text = os.pread(self.descriptor, MAX_BYTES, 0).decode("utf-8", errors="replace")
        return text.partition("\n")[0] or "what it must not see"


@contextmanager
def make_note(guarded: Iterable[Path], scratch: Path) -> Iterator[Note]:
    """A note in the folder `scratch`, for these folders;
    it is removed afterwards. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(dir=scratch)
    try:
        yield Note(descriptor, Path(name), guarded)
    finally:
        os.close(descriptor)
        with suppress(OSError):
            # What the detector has put in its place goes with the folder.
            os.unlink(name)  # noqa: PTH108
