"""The help texts: each argument has one, which says what the argument is, in plain words."""

import argparse
import re

import pytest

from trainbugs.cli.root_parser import COMMANDS, build_parser

# Words that have to be read twice.
UNCLEAR = r"\bthat of\b|\bthose of\b|\bno more\b|\bwhich need not\b"


def arguments(command):
    """The arguments of a command, with their help texts."""
    (commands,) = [
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return [(action.dest, action.help or "") for action in commands.choices[command]._actions]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_argument_says_what_it_is(command):
    """A default alone does not say it, nor does a word that belongs to the name of the option."""
    unclear = [
        (name, text)
        for name, text in arguments(command)
        if re.match(r"(default|of|for|by|from|whose)\b|$", text) or re.search(UNCLEAR, text)
    ]
    assert unclear == []


@pytest.mark.parametrize("name", ["json", "figures", "results", "label", "device", "jobs"])
def test_an_option_has_the_same_words_in_all_commands(name):
    """Where it does the same: `figures` also is an option without a value, and `watch --json` and
    `env --json` are others.
    """
    texts = set()
    for command in COMMANDS:
        if command not in ("watch", "env", "run", "study"):
            texts |= {text for other, text in arguments(command) if other == name}
    assert len(texts) == 1
