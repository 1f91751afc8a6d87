"""Installed files, held against the RECORD files of the wheels that they come from.

uv checks the archive that it downloads, unpacks it into its cache, and makes hard links to the
files there. It does not check them again: who edits a file in an environment edits it in the cache,
for all later installations.
"""

import base64
import csv
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.environments.spec import normal

SITE_PACKAGES = "lib/python*/site-packages"
# Two that some versions of uv put into each venv, and the signatures of a RECORD, which it cannot
# name.
UNRECORDED = ("_virtualenv.py", "_virtualenv.pth", "RECORD.jws", "RECORD.p7s")


@dataclass(frozen=True)
class Wrong:
    """A file that is not as a wheel has it; `packages` are those whose RECORD names it, none where
    no RECORD does.
    """

    path: str
    packages: frozenset[str]

    def __str__(self) -> str:
        path = self.path if self.path.isprintable() else repr(self.path)
        if not self.packages:
            return f"{path} is in no wheel's RECORD"
        return f"{path} is not what the RECORD of {' and '.join(sorted(self.packages))} says"


def wrong(directory: Path, hashes: Mapping[str, str], compiled: bool) -> list[Wrong]:
    """The files that are in no RECORD, are missing, or have another hash than their RECORD says, by
    path.

    `hashes` are those of all files below `directory`, by relative path. Once an environment is
    `compiled`, its bytecode is left out, also what a wheel brings: that is compiled anew.
    """
    claims = _claims(directory)
    problems: list[Wrong] = []
    for path, digests in claims.items():
        is_left_out = compiled and path.endswith(".pyc")
        if not is_left_out and not _right(directory, path, digests.values(), hashes):
            problems.append(Wrong(path, frozenset(digests)))
    sites = tuple(f"{site.relative_to(directory)}/" for site in directory.glob(SITE_PACKAGES))
    for path in hashes:
        is_unrecorded = path.rpartition("/")[2] in UNRECORDED
        is_bytecode = compiled and "/__pycache__/" in path
        expected = path in claims or is_unrecorded or is_bytecode
        if path.startswith(sites) and not expected:
            problems.append(Wrong(path, frozenset()))
    return sorted(problems, key=lambda item: item.path)


def packages(directory: Path) -> list[str]:
    """The names of the installed packages, normalised."""
    return sorted(_package(record) for record in _records(directory))


def _right(directory: Path, path: str, digests: Collection[str], hashes: Mapping[str, str]) -> bool:
    if path not in hashes:
        # Some wheels name folders.
        return (directory / path).is_dir()
    # Wheels may bring the same file; the one that is installed last wins.
    return "" in digests or not _ways(hashes[path]).isdisjoint(digests)


def _claims(directory: Path) -> dict[str, dict[str, str]]:
    """The hash of each recorded file, by its path and the package; empty where the RECORD gives
    none.
    """
    claims: dict[str, dict[str, str]] = defaultdict(dict)
    for record in _records(directory):
        site = record.parent.parent.relative_to(directory)
        for row in _rows(record):
            path = os.path.normpath(f"{site}/{row[0]}")
            claims[path][_package(record)] = _sha256(row[1] if row[1:] else "")
    return claims


def _rows(record: Path) -> Iterator[list[str]]:
    """The rows of a RECORD with a path; from a row on that is no CSV, it names no file."""
    with (
        suppress(csv.Error),
        record.open(encoding="utf-8", errors="replace", newline="") as lines,
    ):
        for row in csv.reader(lines):
            if row:
                yield row


def _records(directory: Path) -> Iterator[Path]:
    return directory.glob(f"{SITE_PACKAGES}/*.dist-info/RECORD")


def _package(record: Path) -> str:
    return normal(record.parent.name.split("-")[0])


def _sha256(recorded: str) -> str:
    """The digits of a hash as a RECORD has it; empty where there is none, or one of another
    algorithm.
    """
    algorithm, is_hash, digits = recorded.partition("=")
    if not is_hash or algorithm != "sha256":
        return ""
    return digits.rstrip("=") or "nothing"


def _ways(digest: str) -> set[str]:
    """How RECORDs write a hash: as base64; versions of uv's own build backend wrote hexadecimal
    digits.
    """
    return {digest, base64.urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")}
