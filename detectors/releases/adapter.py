"""Does the program import a package in a release that a published bug affects?"""

import ast
import json
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

# Run by the program's interpreter: the installed version of each package that is named.
VERSIONS = """
import json, sys
from importlib.metadata import packages_distributions, version
names = packages_distributions()
found = {module: names[module][0] for module in sys.argv[1:] if module in names}
print(json.dumps({name.lower().replace("_", "-"): version(name) for name in found.values()}))
"""


def check(target, state):
    affected = read_affected()
    modules = sorted(imported_modules(Path(target.directory, target.script).read_text()))
    return {"alarms": list(alarms(installed_versions(target, modules), affected))}


def read_affected():
    """The affected releases, by package."""
    versions = {}
    for line in Path(__file__).with_name("affected.txt").read_text().splitlines():
        package, _, version = line.partition("==")
        versions.setdefault(package, set()).add(version)
    return versions


def imported_modules(text):
    """The first names of all modules that a program imports."""
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {name.name.partition(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules


def installed_versions(target, modules):
    """The versions of the packages that hold these modules, without local parts such as +cpu."""
    status, _, stderr = run([target.python, "-c", VERSIONS, *modules], target.directory, target.timeout_s)
    if status:
        raise ToolError(error_line(stderr))
    versions = json.loads(Path("run.out").read_text())
    return {package: version.partition("+")[0] for package, version in versions.items()}


def alarms(versions, affected):
    for package, version in sorted(versions.items()):
        if version in affected.get(package, ()):
            code = "framework" if package == "torch" else "library"
            yield alarm(code, f"{package} {version} has a bug", severity="error")


if __name__ == "__main__":
    main(check)
