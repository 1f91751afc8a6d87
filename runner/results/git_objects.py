"""The objects of a git repository, read without git.

Git executes what a repository's configuration names, in more than a dozen places. A repository may come from anyone, so
that nothing but its objects is read here: no configuration, no attributes, no hooks, no replacements. Each object is
held against its own name, which is a hash.
"""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from runner.errors import TrainbugsError
from runner.files import untrusted

# Far above any commit or tree: a hostile one may unpack to any size.
MAX_OBJECT_BYTES = 16_000_000
MAX_DELTAS, MAX_ALTERNATES, MAX_PACKS = 500, 20, 10_000
MAX_LIST_BYTES = 100_000
PIECE_BYTES = 65_536
NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
OFFSET_DELTA, REFERENCE_DELTA = 6, 7
# An index of a pack: magic number and version, then a table of 256 counts.
INDEX_MAGIC, INDEX_NAMES_AT = b"\xfftOc\x00\x00\x00\x02", 8 + 256 * 4


class UnreadableError(TrainbugsError):
    """A repository lacks an object, or has something that this module does not read."""


@dataclass(frozen=True)
class Entry:
    """An entry of a tree: its mode as git has it, and the name of the object, in hexadecimal digits."""

    mode: int
    name: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a tree of its own."""
        return stat.S_IFMT(self.mode) == stat.S_IFDIR


@dataclass(frozen=True)
class Objects:
    """The objects in some folders `objects`: a repository's own, and the ones that it borrows from."""

    folders: tuple[Path, ...]

    def tree_of(self, commit: str) -> str:
        """The name of the tree of a commit; raises UnreadableError."""
        label, _, name = self.read(commit, "commit").partition(b"\n")[0].partition(b" ")
        if label != b"tree":
            raise UnreadableError(f"commit {commit} names no tree")
        return name.decode("ascii", errors="replace")

    def entries(self, tree: str) -> dict[str, Entry]:
        """The entries of a tree by their names, as `os.fsdecode` gives them; raises UnreadableError."""
        data, size = self.read(tree, "tree"), len(tree) // 2
        entries, position = {}, 0
        while position < len(data):
            end = data.find(b"\0", position)
            mode, _, name = data[position:end].partition(b" ")
            position = end + 1 + size
            if end < 0 or position > len(data) or not mode.isdigit():
                raise UnreadableError(f"tree {tree} is malformed")
            entries[os.fsdecode(name)] = Entry(int(mode, 8), data[end + 1 : position].hex())
        return entries

    def read(self, name: str, kind: str) -> bytes:
        """The contents of an object; raises UnreadableError, UnsafeError or OSError where it cannot be had."""
        if not NAME.fullmatch(name):
            raise UnreadableError(f"{untrusted.brief(name)} is no name of an object")
        actual, data = self._loose(name) or self._packed(name)
        header = f"{actual} {len(data)}\0".encode()
        if actual != kind or hasher(name, header + data).hexdigest() != name:
            raise UnreadableError(f"object {name} is not the {kind} that its name says")
        return data

    def _loose(self, name: str) -> tuple[str, bytes] | None:
        for folder in self.folders:
            path = folder / name[:2] / name[2:]
            if path.exists():
                data = _unpacked(iter([untrusted.read_bytes(path, MAX_OBJECT_BYTES)]), MAX_OBJECT_BYTES)
                header, _, contents = data.partition(b"\0")
                return header.partition(b" ")[0].decode("ascii", errors="replace"), contents
        return None

    def _packed(self, name: str) -> tuple[str, bytes]:
        for folder in self.folders:
            for index in _indices(folder / "pack"):
                offset = _offset(index, name)
                if offset is not None:
                    return _from_pack(index, offset, len(name) // 2)
        raise UnreadableError(f"there is no object {name}")


def open_objects(folder: Path) -> Objects:
    """The objects in a folder `objects` and in its alternates; raises UnreadableError, UnsafeError."""
    folders = [folder]
    for known in folders:
        listed = known / "info" / "alternates"
        if not os.path.lexists(listed):
            continue
        lines = untrusted.read_text(listed, MAX_LIST_BYTES).splitlines()
        folders += [known / line for line in lines if line and not line.startswith("#")]
        if len(folders) > MAX_ALTERNATES:
            raise UnreadableError(f"{folder} borrows from more than {MAX_ALTERNATES} folders")
    return Objects(tuple(folders))


def hasher(name: str, data: bytes) -> "hashlib._Hash":
    """The hash of `data`, by the algorithm by which the object `name` is called."""
    return hashlib.new("sha256" if len(name) == 64 else "sha1", data, usedforsecurity=False)


def _indices(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    indices = sorted(folder.glob("*.idx"))
    if len(indices) > MAX_PACKS:
        raise UnreadableError(f"{folder} holds more than {MAX_PACKS} packs")
    return indices


def _offset(index: Path, name: str) -> int | None:
    """Where the object lies in the pack of an index; None where it is not in there."""
    wanted = bytes.fromhex(name)
    with untrusted.open_plain(index) as file:
        if file.read(8) != INDEX_MAGIC:
            raise UnreadableError(f"{index} has an unknown format")
        before = _number(file, 8 + 4 * (wanted[0] - 1), 4) if wanted[0] else 0
        low, high = before, _number(file, 8 + 4 * wanted[0], 4)
        total = _number(file, INDEX_NAMES_AT - 4, 4)
        while low < high:
            middle = (low + high) // 2
            there = _exactly(file, INDEX_NAMES_AT + middle * len(wanted), len(wanted))
            if there == wanted:
                return _offset_at(file, INDEX_NAMES_AT + total * (len(wanted) + 4), total, middle)
            low, high = (middle + 1, high) if there < wanted else (low, middle)
    return None


def _offset_at(file: BinaryIO, table: int, total: int, position: int) -> int:
    """An entry of the table of offsets: 31 bits, or the position in the table of 64 bits that follows it."""
    offset = _number(file, table + 4 * position, 4)
    if offset < 1 << 31:
        return offset
    return _number(file, table + 4 * total + 8 * (offset - (1 << 31)), 8)


def _from_pack(index: Path, offset: int, size: int) -> tuple[str, bytes]:
    """The kind and the contents of the object at `offset` of the pack; names there have `size` bytes."""
    deltas: list[bytes] = []
    with untrusted.open_plain(index.with_suffix(".pack")) as pack:
        while True:
            kind, length, start = _header(pack, offset)
            if kind in KINDS:
                data = _inflated(pack, start, length)
                break
            offset, start = _base(index, pack, kind, offset, start, size)
            deltas.append(_inflated(pack, start, length))
            if len(deltas) > MAX_DELTAS:
                raise UnreadableError(f"{index} holds a chain of more than {MAX_DELTAS} deltas")
    for delta in reversed(deltas):
        data = _patched(data, delta)
    return KINDS[kind], data


def _header(pack: BinaryIO, offset: int) -> tuple[int, int, int]:
    """Kind and unpacked length of what lies at `offset`, and where it begins."""
    byte = _number(pack, offset, 1)
    kind, length, shift = byte >> 4 & 7, byte & 15, 4
    while byte & 128 and shift < 64:
        offset += 1
        byte = _number(pack, offset, 1)
        length |= (byte & 127) << shift
        shift += 7
    return kind, length, offset + 1


def _base(index: Path, pack: BinaryIO, kind: int, offset: int, start: int, size: int) -> tuple[int, int]:
    """Where the object lies that a delta at `offset` changes, and where the delta's own data begin."""
    if kind == REFERENCE_DELTA:
        base = _offset(index, _exactly(pack, start, size).hex())
        if base is None:
            raise UnreadableError(f"{index} lacks the base of a delta")
        return base, start + size
    if kind != OFFSET_DELTA:
        raise UnreadableError(f"{index} holds an object of an unknown kind")
    byte = _number(pack, start, 1)
    back = byte & 127
    while byte & 128 and back < 1 << 56:
        start += 1
        byte = _number(pack, start, 1)
        back = (back + 1 << 7) | (byte & 127)
    return offset - back, start + 1


def _patched(base: bytes, delta: bytes) -> bytes:
    """What a delta makes of its base."""
    _, position = _varint(delta, 0)
    length, position = _varint(delta, position)
    parts, made = [], 0
    while position < len(delta):
        part, position = _step(base, delta, position)
        made += len(part)
        if made > min(length, MAX_OBJECT_BYTES):
            raise UnreadableError("a delta makes more than it says")
        parts.append(part)
    return b"".join(parts)


def _step(base: bytes, delta: bytes, position: int) -> tuple[bytes, int]:
    """What one instruction of a delta adds, and where the next one begins."""
    code = delta[position]
    position += 1
    if not code & 128:
        if not code:
            raise UnreadableError("a delta has an unknown instruction")
        return delta[position : position + code], position + code
    values = [0] * 7
    for bit in range(7):
        if code >> bit & 1:
            values[bit] = _byte(delta, position)
            position += 1
    start = int.from_bytes(bytes(values[:4]), "little")
    size = int.from_bytes(bytes(values[4:]), "little") or 65_536
    return base[start : start + size], position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value, shift, more = 0, 0, True
    while more and shift < 64:
        byte = _byte(data, position)
        value |= (byte & 127) << shift
        position, shift, more = position + 1, shift + 7, bool(byte & 128)
    return value, position


def _byte(data: bytes, position: int) -> int:
    if position >= len(data):
        raise UnreadableError("a delta ends too early")
    return data[position]


def _inflated(pack: BinaryIO, start: int, length: int) -> bytes:
    if length > MAX_OBJECT_BYTES:
        raise UnreadableError(f"an object is larger than {MAX_OBJECT_BYTES} bytes")
    pack.seek(start)
    return _unpacked(iter(lambda: pack.read(PIECE_BYTES), b""), length)


def _unpacked(pieces: Iterator[bytes], limit: int) -> bytes:
    """What the pieces of a zlib stream hold, at most `limit` bytes; raises UnreadableError for more."""
    stream, data = zlib.decompressobj(), bytearray()
    try:
        for piece in pieces:
            data += stream.decompress(piece, limit + 1 - len(data))
            if stream.eof or len(data) > limit:
                break
    except zlib.error as error:
        raise UnreadableError(f"an object is damaged: {error}") from error
    if not stream.eof or len(data) > limit:
        raise UnreadableError("an object is not as long as it says")
    return bytes(data)


def _number(file: BinaryIO, position: int, size: int) -> int:
    return int.from_bytes(_exactly(file, position, size), "big")


def _exactly(file: BinaryIO, position: int, size: int) -> bytes:
    if position < 0:
        raise UnreadableError("a pack names a place before its begin")
    file.seek(position)
    data = file.read(size)
    if len(data) < size:
        raise UnreadableError("a pack ends too early")
    return data
