"""Programs that are no packages, loaded from their files."""

import importlib.util
import sys
from types import ModuleType

from support.paths import ROOT


def load(path: str) -> ModuleType:
    """The module in a file of the checkout; dataclasses look it up by its name."""
    name = path.removesuffix(".py").replace("/", ".")
    specification = importlib.util.spec_from_file_location(name, ROOT / path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module
