"""Wheels of toy packages."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path


def write_wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str | bytes],
    claims: Mapping[str, str | bytes] | None = None,
) -> Path:
    """A wheel of version 1.0 with these files; `claims` are texts for which its RECORD has hashes
    instead of theirs.
    """
    info = f"{name}-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(record_line(path, {**files, **(claims or {})}[path]) for path in files)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            wheel.writestr(path, text)
    return Path(str(wheel.filename))


def record_line(path: str, text: str | bytes) -> str:
    """The line of a RECORD for a file that holds this text."""
    data = text.encode() if isinstance(text, str) else text
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def lock(*wheels: Path) -> str:
    """The text of a lock that names these wheels with their hashes."""
    hashes = {
        wheel.name.split("-")[0]: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels
    }
    return "".join(
        f"{name}==1.0 \\\n    --hash=sha256:{digest}\n" for name, digest in hashes.items()
    )
