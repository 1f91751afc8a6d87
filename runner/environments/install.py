"""The installation of a lock with uv: a venv, its packages, each file held against its wheel, and
the bytecode.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.environments import bytecode, wheels
from runner.environments.manifest import file_hashes
from runner.environments.spec import Environment, cache_root
from runner.environments.wheels import Wrong
from runner.errors import EnvironmentBuildError, UnbuiltError
from runner.progress.lines import Progress
from runner.sandbox import env, process

TIMEOUT_S = 3600
# What the interpreter runs when it starts, whatever it is to do.
HOOKS = ("*.pth", "sitecustomize*", "usercustomize*")


@dataclass(frozen=True)
class InstalledFiles:
    """What was installed: the SHA-256 of each file by relative path, and the files in which a wheel
    belies its RECORD.

    Bytecode has no hash here.
    """

    hashes: dict[str, str]
    misrecorded: tuple[str, ...]


@dataclass(frozen=True)
class Installation:
    """The installation of an environment into the folder `venv`, which becomes `target` when it is
    complete.

    `backend` is passed to uv as --torch-backend. Without `keep`, downloads do not stay in uv's
    cache.
    """

    environment: Environment
    venv: Path
    target: Path
    backend: str | None
    keep: bool
    progress: Progress

    def do(self) -> InstalledFiles:
        """Make the venv, install, check and compile; raises UnbuiltError, and EnvironmentBuildError
        where this machine has no uv.
        """
        self._uv(
            ["venv", "--relocatable", "--python", _base_python(self.environment), str(self.venv)]
        )
        interpreter = self._interpreter.resolve()
        install = ["pip", "install", "--python", str(self._interpreter), *self._requirements()]
        # First offline: what the cache holds under the lock's hashes is what the index would give.
        if self.backend is not None or self._run_uv([*install, "--offline"]).returncode:
            self._uv(install if self.keep else [*install, "--no-cache"])
        self._refuse_other(interpreter)
        hashes = file_hashes(self.venv)
        wrong = wheels.wrong(self.venv, hashes, compiled=False)
        if wrong:
            hashes, wrong = self._replace(wrong, install)
            self._refuse_other(interpreter)
        self._compile(interpreter, hashes)
        contents = {path: digest for path, digest in hashes.items() if not path.endswith(".pyc")}
        return InstalledFiles(contents, tuple(item.path for item in wrong))

    @property
    def _interpreter(self) -> Path:
        return self.venv / "bin" / "python"

    def _refuse_other(self, interpreter: Path) -> None:
        """Raise UnbuiltError where a package has put something into the interpreter's place."""
        if self._interpreter.resolve() != interpreter:
            raise UnbuiltError(
                f"environment {self.environment.name}: a package of its lock puts a file into the "
                f"place of the interpreter, bin/{self._interpreter.name}; expected none that does: "
                "leave that package out"
            )

    def _requirements(self) -> list[str]:
        if self.backend is None:
            # No dependencies: the lock is complete, or it leaves out what is already installed
            # where its packages are used. What a stranger names is not built: that would run code
            # of it outside of the sandbox.
            wheels_only = ["--no-build"] if self.environment.wheels_only else []
            return ["--no-deps", "--require-hashes", *wheels_only, "-r", str(self.environment.lock)]
        pins = self.venv.with_name("pins.txt")
        lines = [
            f"{name}=={pin}\n"
            for name, pin in self.environment.pins.items()
            if not name.startswith(("nvidia-", "triton"))
        ]
        pins.write_text("".join(lines), encoding="utf-8")
        return ["--torch-backend", self.backend, "-r", str(pins)]

    def _replace(
        self, wrong: Sequence[Wrong], install: list[str]
    ) -> tuple[dict[str, str], list[Wrong]]:
        """Install packages with wrong files again, past uv's cache, and take those that were
        damaged out of it.

        Returns the hashes of all files, and what is still wrong: there a wheel itself differs from
        its RECORD. It is what the lock names nevertheless.
        """
        self._say(f"{_first(wrong)}: uv's cache may be damaged, fetching anew")
        for item in wrong:
            if not item.packages:  # uv would leave it there
                (self.venv / item.path).unlink()
        again = [f"--reinstall-package={name}" for name in self._owners(wrong)]
        with self._without_hooks():
            self._uv([*install, "--no-cache", *again])
        hashes = file_hashes(self.venv)
        still = wheels.wrong(self.venv, hashes, compiled=False)
        damaged = self._owners([item for item in wrong if item not in still])
        if damaged:
            self._say(
                f"removing from uv's cache, which other projects use, too: {', '.join(damaged)}"
            )
            # Forced, or it would wait for all that runs by `uv run`.
            self._run_uv(["cache", "clean", "--force", *damaged])
        if still:
            self._say(f"{_first(still)}, so it is in the wheel, too")
        return hashes, still

    @contextmanager
    def _without_hooks(self) -> Iterator[None]:
        """Without what packages have the interpreter do at its start: uv asks it something, outside
        of the sandbox.
        """
        with TemporaryDirectory(prefix="hooks-", dir=self.venv.parent) as aside:
            moved = []
            for packages in self.venv.glob(wheels.SITE_PACKAGES):
                for pattern in HOOKS:
                    moved += [(path, Path(aside, path.name)) for path in packages.glob(pattern)]
            for path, place in moved:
                path.rename(place)
            try:
                yield
            finally:
                for path, place in moved:
                    if not path.exists():
                        place.rename(path)

    def _owners(self, wrong: Sequence[Wrong]) -> list[str]:
        """The packages of these files: all, where one of them may be of any."""
        if any(not item.packages for item in wrong):
            return wheels.packages(self.venv)
        return sorted(set[str]().union(*(item.packages for item in wrong)))

    def _compile(self, interpreter: Path, hashes: dict[str, str]) -> None:
        """Compile every module, after the check, so that bytecode is of checked files.

        By the interpreter that lies outside of the environment: nothing of a package runs. What was
        compiled for another environment is linked.

        Modules that cannot be compiled are left: programs cannot import them either.
        """
        store = cache_root() / bytecode.FOLDER
        shared = bytecode.SharedBytecode(self.venv, store, hashes, self.environment.python)
        shared.link()
        for site in self.venv.glob(wheels.SITE_PACKAGES):
            place = self.target / site.relative_to(self.venv)
            # Relative paths are what programs see in tracebacks, below `place`.
            argv = [str(interpreter), "-I", "-S", "-m", "compileall", "-qq", "-j", "0"]
            self._run(
                [*argv, "--invalidation-mode", "timestamp", "-d", str(place), "."],
                "compiling",
                site,
            )
        shared.keep()

    def _uv(self, arguments: Sequence[str]) -> None:
        done = self._run_uv(arguments)
        if done.returncode:
            kept_log = cache_root() / "environments" / f"{self.environment.name}.log"
            shutil.copyfile(self._log, kept_log)
            reason = "took too long"
            if not done.timed_out:
                reason = _reason(self._log.read_text(encoding="utf-8", errors="replace"))
            raise UnbuiltError(
                f"environment {self.environment.name} could not be built: {reason} (log: "
                f"{kept_log})"
            )

    def _run_uv(self, arguments: Sequence[str]) -> process.Finished:
        try:
            from uv import find_uv_bin
        except ModuleNotFoundError as error:
            raise EnvironmentBuildError(
                f"environment {self.environment.name} is not there, and uv, which builds it, is "
                "not installed: `pip install uv`, or name an interpreter that has torch by "
                "--python"
            ) from error

        try:
            program = find_uv_bin()
        except FileNotFoundError as error:
            raise EnvironmentBuildError(
                f"environment {self.environment.name} is not there, and uv, which builds it, is "
                "installed without its program: `pip install --force-reinstall uv`, or name an "
                "interpreter that has torch by --python"
            ) from error
        return self._run(
            [program, "--no-progress", *arguments], f"uv {arguments[0]}", self.venv.parent
        )

    def _run(self, argv: Sequence[str], step: str, cwd: Path) -> process.Finished:
        name = self.environment.name
        return process.run(
            argv,
            cwd=cwd,
            env=env.build_environment(),
            stdout=self._log.with_suffix(".out"),
            stderr=self._log,
            timeout_s=TIMEOUT_S,
            on_wait=lambda elapsed: self.progress.status(
                lambda: f"environment {name}: {step}, {elapsed:.0f} s"
            ),
        )

    @property
    def _log(self) -> Path:
        return self.venv.with_name("uv.log")

    def _say(self, text: str) -> None:
        self.progress.line(f"environment {self.environment.name}: {text}")


def _first(wrong: Sequence[Wrong]) -> str:
    more = len(wrong) - 1
    return f"{wrong[0]} (and {more} more)" if more else str(wrong[0])


def _reason(log: str) -> str:
    """One line made of uv's messages: what failed, of what, and the innermost cause."""
    lines = [re.sub(r"^[\s×╰│├─▶>]+", "", line).strip() for line in log.splitlines()]
    messages = [line for line in lines if re.match(r"(?i)(error|cause|caused by)\b", line)]
    if not messages:
        messages = [line for line in lines if line]
    shown = dict.fromkeys([*messages[:2], *messages[-1:]])
    texts = [re.sub(r"(?i)^(error|cause|caused by): ", "", line) for line in shown]
    return "; ".join(texts)[:400]


def _base_python(environment: Environment) -> str:
    """The base interpreter of this process, which surely exists, if its version fits; else the
    version, for uv.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix) / "bin" / f"python{version}"
    fits = version == environment.python and base.exists()
    return str(base) if fits else environment.python
