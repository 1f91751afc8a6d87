"""A check: one detector run, on one program, with its references."""

from dataclasses import dataclass
from datetime import UTC, datetime

from evaluation.keys import check_key, kit_digest, rule_digest, rules_digest
from evaluation.model import SCRIPT
from evaluation.records import SCHEMA, CheckRecord, FaultSite, Seconds
from evaluation.running.detector_run import DetectorRun, reference_keys
from evaluation.running.program import ShownProgram
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.results.runtime_identity import identify


@dataclass(frozen=True, eq=False)
class DetectorCheck:
    """A program that a detector is to look at; `references` are there to be learnt from."""

    detector_run: DetectorRun
    program: ShownProgram
    references: tuple[ShownProgram, ...] = ()

    @property
    def label(self) -> str:
        """The check for the user."""
        return f"{self.detector_run.label} on {self.program.name}"

    def blank_record(self) -> CheckRecord:
        """The record as far as it is known before the check."""
        detector_run, settings = self.detector_run, self.detector_run.settings
        detector, rules = detector_run.detector, detector_run.detector.alarm_rules
        case, run = self.program.case, self.program.run
        has_references = detector_run.reference_kind != "none"
        return CheckRecord(
            schema=SCHEMA,
            key=check_key(
                detector_run.digest,
                run.key,
                detector_run.reference_kind,
                reference_keys(self.references),
                settings.timeout_s,
            ),
            detector=detector.name,
            version=detector.version,
            references=detector_run.reference_kind,
            kind=self.program.kind,
            bug=self.program.bug.id,
            case=case.name,
            seed=run.seed,
            benign=case.benign,
            trigger=case.truth.iteration,
            site=_shown_site(self.program),
            runtime=identify(run.runtime),
            status="ok",
            reason=None,
            alarms=(),
            dropped=0,
            invariants=None,
            seconds=Seconds(None, 0.0, None),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=detector_run.revision,
            kit=kit_digest(),
            rules=rules_digest(rules),
            code=detector_run.digest,
            declared={name: rule_digest(rule) for name, rule in rules.items()},
            program=self.program.digest,
            reference_text=detector.has_text if has_references else None,
            perturb=settings.perturb,
            plant=settings.plant,
            catalogue=CATALOGUE_VERSION,
        )


def _shown_site(program: ShownProgram) -> FaultSite:
    """The site of the fault, under the neutral name of the script."""
    site = program.bug.site
    file = SCRIPT if site.file == program.script_name else site.file
    return FaultSite(file, site.line, site.api)
