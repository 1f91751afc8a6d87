"""A case with another parameter, for runs that its own expectations are not about."""

from msgspec import structs

from runner.bugs.case import Case, Oracle
from runner.bugs.program import VARIANTS, Variant
from runner.field_types import Scalar


def with_parameter(case: Case, name: str, parameter: str, value: Scalar, slower: int = 2) -> Case:
    """The case under another name, with one parameter changed and no expectation.

    It may take `slower` times as long. How many records it gives is not known before.
    """
    variants: dict[str, Variant] = {}
    for variant_name in VARIANTS:
        variant = case.program.variants[variant_name]
        variants[variant_name] = structs.replace(variant, records=None)
    program = structs.replace(
        case.program,
        variants=variants,
        parameters={**case.program.parameters, parameter: value},
        timeout_s=slower * case.program.timeout_s,
    )
    return structs.replace(
        case, name=name, program=program, oracle=Oracle(volatile=case.oracle.volatile)
    )
