"""Invariants as TrainCheck writes them: which are the same, which a rule counts,
which name the site of a bug.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

RULES = ("any", "no-cover-or-lead", "contain", "beyond-held-out")
# TrainCheck's tutorial calls these two relations noise.
NOISE = ("FunctionCoverRelation", "FunctionLeadRelation")


def identity(invariant: Mapping[str, Any]) -> str:
    """The same text for the same invariant, however many examples it was inferred from.

    TrainCheck gives them no names, and writes the values of a condition in any order.
    """
    held = {name: invariant[name] for name in ("relation", "params")}
    return json.dumps([held, _in_order(invariant["precondition"])], sort_keys=True)


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(item) for name, item in value.items()}
    if isinstance(value, list):
        return sorted(
            (_in_order(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True)
        )
    return value


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Invariants of a file with one a line, by their identity."""
    objects = map(json.loads, path.read_text().splitlines())
    return {identity(described): described for described in objects}


def write(invariants: Iterable[Mapping[str, Any]], path: Path) -> None:
    path.write_text("".join(f"{json.dumps(invariant)}\n" for invariant in invariants))


def violated(path: Path) -> frozenset[str]:
    """What a log of TrainCheck's checker calls violated: JSON objects, one behind the other."""
    return frozenset(identity(described["invariant"]) for described in _objects(path.read_text()))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder, position = json.JSONDecoder(), 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        value, position = decoder.raw_decode(text, position)
        yield value


def counts(invariant: Mapping[str, Any], rule: str) -> bool:
    """Whether a rule counts the violations of an invariant."""
    relation = invariant["relation"]
    return {
        "no-cover-or-lead": relation not in NOISE,
        "contain": relation == "APIContainRelation",
    }.get(rule, True)


def names(invariant: Mapping[str, Any], api: str) -> bool:
    """Whether an invariant is about the API of a site.

    The last part of the API's name is compared: torch.optim.Optimizer is
    torch.optim.optimizer.Optimizer, too.
    """
    last = api.split(".")[-1]
    return any(last in parts for parts in map(_parts, invariant["params"]))


def _parts(param: Mapping[str, Any]) -> set[str]:
    texts = [
        param.get(name)
        for name in ("api_full_name", "api_name", "var_type", "attr_name", "var_name")
    ]
    return {part for text in texts if isinstance(text, str) for part in text.split(".")}
