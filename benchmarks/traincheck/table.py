"""The rows of the results: a case under each choice of tracing, references, dropping and rule;
what it violates.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import invariants
from declared import REFERENCES
from experiment import Found

DROPPING = ("nothing", "own", "own and held-out")
KEYS = ("case", "tracing", "references", "dropping", "rule")
FIELDS = (
    *KEYS, "status", "reason", "invariants", "on_held_out", "on_fixed", "on_buggy", "only_on_buggy", "paired", "site",
    "best", "bare_s", "trace_s", "infer_s", "check_s", "bare_cpu_s", "trace_cpu_s", "infer_cpu_s", "check_cpu_s",
)  # fmt: skip
VIOLATED_FIELDS = ("case", "relation", "invariant")

Seconds = Mapping[str, tuple[float, float]]


def rows(
    case: str, api: str, tracing: str, results: Found, seconds: Seconds
) -> Iterator[dict[str, Any]]:
    for count, inferred in results.inferred.items():
        times = _times(tracing, count, seconds)
        for dropping in DROPPING:
            invariants_kept = _kept(dropping, count, inferred, results)
            for rule in invariants.RULES:
                key = dict(zip(KEYS, (case, tracing, count, dropping, rule), strict=True))
                yield {
                    **key,
                    "status": "ok",
                    "reason": "",
                    **_judged(invariants_kept, rule, api, results),
                    **times,
                }


def violated(case: str, results: Found) -> Iterator[dict[str, str]]:
    """What the buggy program alone violates, by any rule,
    of what all references gave and none of them violates.
    """
    count = max(results.inferred)
    invariants_kept = _kept("own", count, results.inferred[count], results)
    only = [
        identity
        for key, identity in invariants_kept.items()
        if key in results.violated["buggy"] - results.violated["fixed"]
    ]
    for relation, text in sorted(
        (identity["relation"], identity["text_description"]) for identity in only
    ):
        yield dict(zip(VIOLATED_FIELDS, (case, relation, text), strict=True))


def unfinished(case: str, tracing: str, status: str, reason: str) -> dict[str, Any]:
    """The one row of a case that was not run, or on which the tool failed."""
    return {"case": case, "tracing": tracing, "status": status, "reason": reason}


def _kept(dropping: str, count: int, inferred: Mapping[str, Any], results: Found) -> dict[str, Any]:
    """The invariants that are left when those are dropped that clean runs violate."""
    clean = [f"reference-{seed}" for seed in REFERENCES[:count]] if dropping != "nothing" else []
    clean += ["held-out"] if dropping == "own and held-out" else []
    dropped = frozenset[str]().union(*(results.violated[name] for name in clean))
    return {key: item for key, item in inferred.items() if key not in dropped}


def _judged(
    invariants_kept: Mapping[str, Any], rule: str, api: str, results: Found
) -> dict[str, Any]:
    counted = {key for key, item in invariants_kept.items() if invariants.counts(item, rule)}
    held_out, fixed, buggy = (
        counted & results.violated[name] for name in ("held-out", "fixed", "buggy")
    )
    allowed = len(held_out) if rule == "beyond-held-out" else 0
    only = [invariants_kept[key] for key in sorted(buggy - fixed)]
    # What is said of the site is said of the best alarm: the first that names it, else one of the
    # telling relation.
    best = sorted(
        only,
        key=lambda item: (
            not invariants.names(item, api),
            item["relation"] != "APIContainRelation",
        ),
    )
    return {
        "invariants": len(invariants_kept),
        "on_held_out": len(held_out),
        "on_fixed": len(fixed),
        "on_buggy": len(buggy),
        "only_on_buggy": len(only),
        "paired": _yes(len(buggy) > allowed >= len(fixed)),
        "site": _yes(bool(best) and invariants.names(best[0], api)),
        "best": f"{best[0]['relation']}: {best[0]['text_description']}" if best else "",
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _times(tracing: str, count: int, seconds: Seconds) -> dict[str, float]:
    """Of the fixed program: bare, traced, and checked (against the invariants of all counts);
    and of the inference.
    """
    parts = {
        "bare": "bare-fixed",
        "trace": f"trace-{tracing}-fixed",
        "infer": f"infer-{tracing}-{count}",
        "check": f"check-{tracing}-fixed",
    }
    wall = {f"{name}_s": round(seconds[part][0], 1) for name, part in parts.items()}
    return wall | {f"{name}_cpu_s": round(seconds[part][1], 1) for name, part in parts.items()}
