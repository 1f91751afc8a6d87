"""The work on one case: bare runs, traces, inference and checks, by TrainCheck's own commands."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import invariants
from declared import CHECKED, HELD_OUT, REFERENCES, SAMPLED_COUNT, SAMPLING, Declared
from parts import Parts
from programs import BARE, SCRIPT, Place, lay_out


@dataclass(frozen=True)
class Found:
    """What is known of a case under one tracing: the invariants of each count,
    and what each program violates.

    `violated` has the identities by the program's name: reference-1 …, held-out, fixed, buggy.
    """

    inferred: dict[int, dict[str, dict[str, Any]]]
    violated: dict[str, frozenset[str]]


def programs(declared: Declared, place: Place) -> dict[str, Path]:
    """The folders of all programs of a case, by their names."""
    variants = {f"reference-{seed}": ("fixed", seed) for seed in declared.references}
    variants |= {
        "held-out": ("fixed", HELD_OUT),
        "fixed": ("fixed", CHECKED),
        "buggy": ("buggy", CHECKED),
    }
    return {
        name: lay_out(declared, variant, seed, place, name)
        for name, (variant, seed) in variants.items()
    }


@dataclass(frozen=True)
class Experiment:
    """A case whose programs are laid out."""

    declared: Declared
    place: Place
    parts: Parts
    folders: dict[str, Path]

    def bare(self) -> None:
        for name in ("fixed", "buggy"):
            command = [self.place.python, BARE, "config.json"]
            self.parts.run(f"bare-{name}", command, self.folders[name])

    def full(self) -> Found:
        """Every step traced; the checked programs first,
        so that a case that cannot be traced ends soon.
        """
        for name in (
            "fixed",
            "buggy",
            "held-out",
            *(f"reference-{seed}" for seed in self.declared.references),
        ):
            self._trace("full", name, ())
        inferred = {count: self._infer("full", count) for count in self.declared.counts}
        # An invariant that several counts have is checked once: no check depends upon the others.
        union = self.place.folder / "full-union.json"
        every = {
            key: item for inferred_set in inferred.values() for key, item in inferred_set.items()
        }
        invariants.write(every.values(), union)
        return Found(inferred, {name: self._check("full", name, union) for name in self.folders})

    def sampled(self) -> Found:
        """As detectors/traincheck does; the run that is held out is traced as the checked programs
        are.
        """
        references = [f"reference-{seed}" for seed in REFERENCES[:SAMPLED_COUNT]]
        for name in references:
            self._trace("sampled", name, SAMPLING)
        inferred = self._infer("sampled", SAMPLED_COUNT)
        path = self._invariants("sampled", SAMPLED_COUNT)
        checked = ("fixed", "buggy", "held-out")
        for name in checked:
            self._trace("sampled", name, (*SAMPLING, "-i", str(path)))
        violated = {name: self._check("sampled", name, path) for name in (*references, *checked)}
        return Found({SAMPLED_COUNT: inferred}, violated)

    def _module(self, name: str) -> list[object]:
        return [self.place.python, "-m", f"traincheck.{name}"]

    def _trace(self, tracing: str, name: str, options: tuple[str, ...]) -> None:
        folder, out = self.folders[name], self._traces(tracing, name)
        tracked = [
            "--models-to-track",
            *self.declared.models,
            "--model-tracker-style",
            self.declared.tracker,
        ]
        command = [
            "-p",
            folder / SCRIPT,
            "-s",
            folder / "run.sh",
            "--output-dir",
            out,
            *tracked,
            *options,
        ]
        self.parts.run(
            f"trace-{tracing}-{name}", [*self._module("collect_trace"), *command], self.place.folder
        )
        # Megabytes of what was wrapped; nothing reads them.
        for log in out.glob("instrumentation_*.log"):
            log.unlink()

    def _infer(self, tracing: str, count: int) -> dict[str, dict[str, Any]]:
        out = self._invariants(tracing, count)
        folders = [self._traces(tracing, f"reference-{seed}") for seed in REFERENCES[:count]]
        command = [*self._module("infer_engine"), "-f", *folders, "-o", out]
        self.parts.run(f"infer-{tracing}-{count}", command, self.place.folder / "scratch")
        return invariants.read(out)

    def _check(self, tracing: str, name: str, path: Path) -> frozenset[str]:
        out = self.place.folder / f"checked-{tracing}"
        command = ["-f", self._traces(tracing, name), "-i", path, "-o", out, "--no-html-report"]
        self.parts.run(
            f"check-{tracing}-{name}",
            [*self._module("checker"), *command],
            self.place.folder / "scratch",
        )
        return invariants.violated(out / name / "failed.log")

    def _traces(self, tracing: str, name: str) -> Path:
        return self.place.folder / f"traces-{tracing}" / name

    def _invariants(self, tracing: str, count: int) -> Path:
        return self.place.folder / f"{tracing}-{count}.json"
