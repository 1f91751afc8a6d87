"""The state of a file, by which a reader knows that it has read this very file before."""

from pathlib import Path

# Inode, bytes, and the times (ns) of the last change of its text and of its entry.
FileState = tuple[int, int, int, int]


def file_state(path: Path) -> FileState | None:
    """What changes with the file; None where there is none. Of a link it is the link's own."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
