"""Lets torchvision take made files for its data sets: Python imports this module at its start.

Files count as whole where they exist, and nothing is downloaded.
"""

import importlib.abc
import importlib.machinery
import os
import sys

NAME = "torchvision.datasets.utils"


def is_there(path, md5=None):
    """Stands in for `check_integrity`, which compares checksums."""
    return os.path.isfile(path)  # noqa: PTH113


def refuse(*arguments, **options):
    """Stands in for what downloads."""
    raise RuntimeError("no data is downloaded here")


class Loader(importlib.abc.Loader):
    """The module's own loader, and then two changes."""

    def __init__(self, own):
        self.own = own

    def create_module(self, spec):
        return self.own.create_module(spec)

    def exec_module(self, module):
        self.own.exec_module(module)
        module.check_integrity = is_there
        module.download_url = refuse


class Finder(importlib.abc.MetaPathFinder):
    """Finds that one module, and leaves all others alone."""

    def find_spec(self, fullname, path, target=None):
        if fullname != NAME:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        spec.loader = Loader(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
