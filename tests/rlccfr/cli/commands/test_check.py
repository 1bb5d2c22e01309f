"""``rlccfr check`` says which components of a file pass, and what is wrong with the others."""

from __future__ import annotations

import re

import pytest

PASSES = (
    r"passes; exploitability on Kuhn: \S+ after 2,000 and \S+ after 200,000 iterations; plain CFR: 0.00053 and 1.11e-05"
)
FILE = """
from rlccfr.components import Sampler, UpdateRule
from rlccfr.registry import sampler, update_rule


def beyond(instant_regret, mass, state, parameters, utility_range):
    instant_regret[len(instant_regret)] = 1.0


@update_rule("checked_sound", source="a test")
def checked_sound(power: float = 1.0) -> UpdateRule:
    'Linear CFR.'
    return UpdateRule(average_decay=lambda t: ((t - 1) / t) ** power)


@update_rule("checked_broken", source="a test")
def checked_broken() -> UpdateRule:
    'A rule that writes beyond the regrets.'
    return UpdateRule(reweight=beyond)


@sampler("checked_sampler", source="a test")
def checked_sampler() -> Sampler:
    'External sampling.'
    return Sampler()
"""


@pytest.fixture
def file(tmp_path, own_components):
    """A file with three components."""
    (tmp_path / "rules.py").write_text(FILE)
    return "rules.py"


@pytest.mark.slow
def test_all_components_of_a_file_are_checked(run, file):
    code, out, err = run("--load", file, "check")
    sound, broken, sampler = out.splitlines()
    assert re.fullmatch(f"update rule checked_sound: {PASSES}", sound)
    assert sampler == "sampler checked_sampler: passes"
    assert broken.startswith("update rule checked_broken: the reweight of 'checked_broken' fails: IndexError: index 1")
    assert "(line 7 of rules.py)" in broken
    assert (code, err) == (1, "error: 1 of 3 components fail\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "kuhn", "--update-rule", "cubic_plus"),
        ("results", "table", "kuhn", "--catalog", "tabular + cubic_plus"),
        ("catalog", "cubic_plus"),
        ("cite", "cubic_plus"),
        ("check", "cubic_plus"),
    ],
)
def test_every_command_says_how_a_component_of_ones_own_is_loaded(run, arguments):
    code, _, err = run(*arguments)
    assert code == 1
    assert "cubic_plus'; " in err
    assert err.endswith("(to load your own, write `rlccfr --load FILE` before the command)\n")


def test_a_component_may_be_named_with_hyperparameters(run, file):
    code, out, _ = run("--load", file, "check", "checked_sound(power=2)")
    assert code == 0
    assert re.fullmatch(rf"update rule checked_sound\(power=2\): {PASSES}\n", out)


def test_a_file_without_components_is_named(run, file, tmp_path):
    (tmp_path / "nothing.py").write_text("")
    told = run("--load", "nothing.py", "check")[2]
    assert told == "error: there is nothing to check: no component is registered by nothing.py\n"


def test_what_can_not_be_checked_is_said(run):
    assert run("check")[2] == "error: there is nothing to check: write --load FILE or --plugins before the command\n"
