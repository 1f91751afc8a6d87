"""Declared facts are there, and the README says the same;
each rule is broken once and must complain.
"""

import json

import pytest
from support.toy import toy_config

from runner.authoring.declared import check_declared


def declare(toy, **changes):
    """Change the declared facts of the toy bug."""
    toy.configure(declared=toy_config()["declared"] | changes)


def harm(toy, **changes):
    declare(toy, harm=toy_config()["declared"]["harm"] | changes)


def case(toy, **changes):
    cases = toy_config()["cases"]
    cases["only"] |= changes
    toy.configure(cases=cases)


def say(toy, old, new):
    path = toy.directory / "README.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def without_fix(toy):
    cases = toy_config()["cases"]
    del cases["only"]["variants"]["fixed"]["fix"]
    toy.configure(cases=cases)


def test_a_bug_that_declares_all_has_no_problem(toy):
    assert list(check_declared(toy.bug)) == []


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda toy: toy.configure(declared=None), "declared is missing"),
        (without_fix, "variants.fixed.fix is missing; expected one of released, proposed"),
        (lambda toy: toy.configure(parameter_origins={}), "parameter_origins lacks num_epoch"),
        (
            lambda toy: case(toy, parameter_origins={"rate": "ours"}),
            "parameter_origins names rate, which is no parameter",
        ),
        (
            lambda toy: case(toy, parameters={"depth": 2}),
            "case only: parameter_origins lacks depth",
        ),
        (
            lambda toy: toy.configure(provenance=toy_config()["provenance"] | {"read_by": []}),
            "provenance.read_by is empty",
        ),
        (lambda toy: harm(toy, choices="We chose it."), "does not say: Harm: *reported*. We chose"),
        (lambda toy: declare(toy, source_read="part"), "source read: *in part*"),
        (lambda toy: declare(toy, state_upstream="fixed in 2.4"), "upstream *fixed in 2.4*"),
        (lambda toy: declare(toy, code_at_fault="installed"), "code at fault *installed*"),
        (lambda toy: declare(toy, family="ranks"), "family: *ranks*"),
        (
            lambda toy: case(toy, harm={"kind": "constructed", "choices": "Ours."}),
            "does not say: Harm of `only`: *constructed*. Ours.",
        ),
        (
            lambda toy: say(toy, "## Impact", "Its harm here is constructed.\n\n## Impact"),
            "'harm here is constructed', and harm is reported",
        ),
        (
            lambda toy: say(toy, "## Impact", "The fault is injected.\n\n## Impact"),
            "and code_at_fault is re-created, expected injected",
        ),
        (
            lambda toy: say(toy, "## Impact", "The question could not be opened.\n\n## Impact"),
            "and source_read is whole, expected second-hand",
        ),
    ],
)
def test_what_is_missing_or_contradicted_is_a_problem(toy, spoil, words):
    spoil(toy)
    problems = list(check_declared(toy.bug))
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize(
    "state, entry",
    [("fixed in 2.4.0", "fixed"), ("open", "open"), ("by design", "by design")],
)
def test_the_state_upstream_has_an_entry_of_the_closed_list(toy, state, entry):
    declare(toy, state_upstream=state)
    assert toy.bug.declared.state == entry
    assert toy.bug.declared.entries["state_upstream"] == entry


def test_the_family_of_a_bug_that_stands_alone_is_its_id(toy):
    assert toy.bug.family == "Toy-1"
    declare(toy, family="ranks")
    assert toy.bug.family == "ranks"


def test_a_case_may_have_a_harm_and_origins_of_its_own(toy):
    case(
        toy,
        harm={"kind": "enlarged", "choices": "Ours."},
        parameter_origins={"num_epoch": "ours; source: 4"},
    )
    only = toy.bug.cases["only"]
    assert only.harm.kind == "enlarged"
    assert only.parameter_origins == {"num_epoch": "ours; source: 4"}


@pytest.mark.parametrize(
    "name, value", [("harm", "large"), ("split", "train"), ("state_upstream", "closed")]
)
def test_an_entry_that_no_list_has_is_refused(toy, name, value):
    from runner.errors import CatalogError

    if name == "harm":
        harm(toy, kind=value)
    else:
        declare(toy, **{name: value})
    with pytest.raises(CatalogError, match=json.dumps(value)[1:-1]):
        _ = toy.bug
