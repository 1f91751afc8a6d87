"""The releases that bugs of installed packages affect, for the negative control `releases`.

python benchmarks/affected_releases.py > detectors/releases/affected.txt
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from runner.bugs.catalog import Catalog

ROOT = Path(__file__).parents[1]


def affected_releases(catalog: Catalog) -> Iterator[str]:
    """PACKAGE==VERSION of each affected release, sorted; retired bugs and those of user code have
    none.
    """
    lines = set()
    for bug in catalog:
        if bug.retired is None and bug.affected is not None:
            package = bug.affected.package.lower().replace("_", "-")
            lines |= {f"{package}=={version}" for version in bug.affected.versions}
    yield from sorted(lines)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in affected_releases(Catalog(ROOT)))
