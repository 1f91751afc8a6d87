"""Patches that are no repairs: they change what is measured, on what, or how much is trained.

The twins say what may change: what the real fix changes, a patch may change as well. A rule looks
at the text alone; `docs/repairs.md` says what that cannot see.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterator

from evaluation.repair.facts import ProgramFacts, parse, root_name
from evaluation.repair.passes import TRAINING_CALLS, more_ways

# What a repair may import beside what the twins import.
HARMLESS = {
    "torch", "math", "copy", "functools", "itertools", "contextlib", "collections", "typing",
    "warnings", "dataclasses", "numbers", "random", "statistics", "__future__",
}  # fmt: skip
FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "open", "globals", "locals", "vars", "setattr",
    "delattr", "getattr", "input", "breakpoint", "exit", "quit", "memoryview", "property", "type",
    "object",
}  # fmt: skip
# Files, processes and other modules.
FORBIDDEN_ATTRIBUTES = {
    "open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rename", "system",
    "popen", "modules", "import_module", "settrace", "load", "save", "hub", "exit", "_exit",
    "overrides", "TorchFunctionMode", "TorchDispatchMode", "fork_rng", "as_subclass",
}  # fmt: skip
DUNDERS = {"__init__", "__name__", "__file__", "__class__", "__len__", "__getitem__", "__iter__"}
BUILTINS = set(dir(builtins))
# What a module, an optimizer and a tensor do when they are called, trained or measured.
METHODS = {
    "forward", "train", "eval", "parameters", "named_parameters", "buffers", "named_buffers",
    "modules", "children", "state_dict", "step", "zero_grad", "backward", "item", "tolist",
}  # fmt: skip
Reasons = Iterator[str]
Rule = Callable[[ProgramFacts, ProgramFacts, ProgramFacts], Reasons]


def refusals(patched: str, buggy: str, fixed: str, measures: bool = False) -> list[str]:
    """Why a patched program is no repair of the buggy one; empty where nothing is against it.

    `measures`: the fault is in the measurement, which a repair then changes. Raises SyntaxError or
    ValueError for a patched text that is no Python.
    """
    facts, buggy_facts, fixed_facts = parse(patched), parse(buggy), parse(fixed)
    rules = RULES if measures else (*RULES, *RULES_OF_MEASUREMENT)
    return [reason for rule in rules for reason in rule(facts, buggy_facts, fixed_facts)]


def _imports(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    for name in sorted(patched.imports - buggy.imports - fixed.imports - HARMLESS):
        yield f"it imports {name or 'a module beside it'}, which neither twin does"


def _forbidden(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    for name in sorted(patched.plain_names - buggy.plain_names - fixed.plain_names):
        if name in FORBIDDEN or _is_dunder(name):
            yield f"it uses {name}, which a training does not need"
    for name in sorted(patched.attributes - buggy.attributes - fixed.attributes):
        if name in FORBIDDEN_ATTRIBUTES or _is_dunder(name) or name.startswith("register_"):
            yield f"it uses .{name}, which a training does not need"


def _definitions(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """A new class is a module of the network and nothing else; no method is one that Python or
    torch calls by itself.
    """
    known = buggy.definitions.keys() | fixed.definitions.keys()
    for name, bases in patched.classes.items():
        if name not in known and not all(base.rpartition(".")[2] == "Module" for base in bases):
            yield f"it defines {name}, a class of {', '.join(bases) or 'its own'}"
    for name in sorted(patched.definitions.keys() - known):
        if _is_dunder(name.rpartition(".")[2]):
            yield f"it defines {name}"


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in DUNDERS


def _replaced(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """What an imported, or built in, name stands for stays as it is."""
    known = _writes(buggy) | _writes(fixed)
    for text, root in sorted(_writes(patched) - known):
        if root in patched.imported_names | BUILTINS | {"config"}:
            yield f"it changes what {root} holds: {_short(text)}"


def _bound_again(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """What is imported or built in has one meaning, in all functions."""
    names = buggy.imported_names | fixed.imported_names | BUILTINS | {"config", "json"}
    yield from _rebound(names, patched, buggy, fixed)


def _measured_by_another(
    patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts
) -> Reasons:
    """What measures, makes data or is a model, and stays as it is, is what its name means."""
    names: set[str] = set()
    for name, text in buggy.protected.items():
        if fixed.definitions.get(name) == text:
            names |= buggy.names_of(name)
    yield from _rebound(names, patched, buggy, fixed)


def _rebound(
    names: set[str], patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts
) -> Reasons:
    """Reasons about names that the patched program binds more often than both twins, or by another
    import.
    """
    rebound = {
        name
        for (name, meaning), count in patched.bindings.items()
        if count > max(buggy.bindings[name, meaning], fixed.bindings[name, meaning])
    }
    for name in sorted(rebound & names):
        yield f"it binds {name} anew"


def _methods(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """Neither a method nor what belongs to a class gets another value from outside."""
    classes = {name.rpartition(".")[2] for name in buggy.classes | fixed.classes}
    definitions = buggy.definitions | fixed.definitions
    methods = METHODS | {name.rpartition(".")[2] for name in definitions if "." in name}
    for text, root in sorted(_writes(patched) - _writes(buggy) - _writes(fixed)):
        if root in classes or text.rpartition(".")[2] in methods:
            yield f"it gives {_short(text)} another value"


def _writes(facts: ProgramFacts) -> set[tuple[str, str]]:
    """The targets that are attributes or entries, with the name at which they begin."""
    return {
        (ast.unparse(node), root_name(node) or "")
        for node in facts.nodes
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
    }


def _output(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """What is printed, recorded and written is what a twin prints, records and writes."""
    if patched.outputs in (buggy.outputs, fixed.outputs):
        return
    new = patched.outputs - (buggy.outputs | fixed.outputs)
    gone = (buggy.outputs & fixed.outputs) - patched.outputs
    if new or gone:
        text = next(iter([*new, *gone]))
        yield f"it records or prints something else: {_short(text)}"


def _configuration(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    for key in sorted((buggy.config_reads & fixed.config_reads) - patched.config_reads):
        yield f"it reads config[{key}] less often"
    for text in sorted(patched.config_uses - buggy.config_uses - fixed.config_uses):
        yield f"it makes another configuration: {_short(text)}"
    calls = patched.calls_without_config()
    calls -= buggy.calls_without_config() | fixed.calls_without_config()
    for name in sorted(calls.keys() & (buggy.takes_config() | fixed.takes_config())):
        yield f"it calls {name} with another configuration"


def _budget(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """Loops go over what they went over."""
    for loop in sorted((buggy.loops & fixed.loops) - patched.loops):
        yield f"it no longer loops over {_short(loop)}"
    for loop in sorted(patched.loops - (buggy.loops | fixed.loops)):
        if any(word in loop for word in ("epoch", "step", "iteration", "loader", "range")):
            yield f"it loops over {_short(loop)}, which neither twin does"


def _passes(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """As many calls and loops lead to a step as in a twin, and nothing hides how many."""
    for name in TRAINING_CALLS:
        ways = [facts.passes.ways(name) for facts in (patched, buggy, fixed)]
        if more_ways(*ways):
            yield f"more calls or loops lead to {name} than in both twins"
    most = buggy.passes.odd_uses | fixed.passes.odd_uses
    for name in sorted(patched.passes.odd_uses - most):
        yield f"it uses {name}, which trains, in a way that may call it often"


def _optimizers(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    if patched.optimizers not in (buggy.optimizers, fixed.optimizers):
        new = Counter(patched.optimizers) - (buggy.optimizers | fixed.optimizers)
        yield f"it has another optimizer or schedule: {', '.join(new) or 'one is gone'}"


def _seeds(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    if patched.seeding not in (buggy.seeding, fixed.seeding):
        yield "it seeds random numbers in another way"


def _held_out(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    for text in sorted(patched.held_out - buggy.held_out - fixed.held_out):
        yield f"it uses held-out data, or what was measured with it: {_short(text)}"


def _protected(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """A model, data or a measurement that the real fix leaves alone stays as it is."""
    for name, text in buggy.protected.items():
        is_changed = patched.definitions.get(name) != text
        if fixed.definitions.get(name) == text and is_changed:
            yield f"it changes {name}, which the real fix leaves as it is"


def _recorded(patched: ProgramFacts, buggy: ProgramFacts, fixed: ProgramFacts) -> Reasons:
    """What is recorded comes about as it does in a twin."""
    names = buggy.recorded_names | fixed.recorded_names
    known = buggy.changes_of(names) | fixed.changes_of(names)
    for text in sorted(patched.changes_of(names) - known):
        yield f"it changes what is recorded: {_short(text)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:77]}..."


RULES: tuple[Rule, ...] = (
    _imports, _forbidden, _definitions, _replaced, _bound_again, _methods, _configuration, _budget,
    _passes, _optimizers, _seeds,
)  # fmt: skip
# A repair of a measurement changes these; its numbers are held against the fixed twin's.
RULES_OF_MEASUREMENT: tuple[Rule, ...] = (
    _output, _held_out, _protected, _measured_by_another, _recorded,
)  # fmt: skip
