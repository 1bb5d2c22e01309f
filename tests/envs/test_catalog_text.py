"""Catalogs that are given as a text."""

from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog
from rlccfr.envs.catalog_text import default_catalog
from rlccfr.envs.episode import parse_catalog
from rlccfr.errors import RLCCFRError

NONE = ("none",)


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("cfr", (("cfr",), NONE, NONE)),
        ("CFR+", (("cfr_plus",), NONE, NONE)),
        ("CFR+ + PCFR+", (("cfr_plus", "pcfr_plus"), NONE, NONE)),
        ("dcfr(alpha=1|1.5)", (("dcfr(alpha=1)", "dcfr(alpha=1.5)"), NONE, NONE)),
        ("cfr + external + cfr_br", (("cfr",), ("external",), ("cfr_br",))),
        ("cfr + external + none", (("cfr",), ("external", "none"), NONE)),
        ("cfr + external + cfr_br + none", (("cfr",), ("external", "none"), ("cfr_br", "none"))),
        (
            "cfr + outcome(exploration=0.2|0.4)",
            (("cfr",), ("outcome(exploration=0.2)", "outcome(exploration=0.4)"), NONE),
        ),
        (
            "deep_cfr(preset='sweep'|'paper')",
            (("deep_cfr(preset='sweep')", "deep_cfr(preset='paper')"), NONE, NONE),
        ),
        (
            "dcfr(alpha=1|2, beta=0, gamma=2|3)",
            (tuple(f"dcfr(alpha={alpha}, beta=0, gamma={gamma})" for alpha in (1, 2) for gamma in (2, 3)), NONE, NONE),
        ),
    ],
)
def test_components_alone_are_a_catalog(text, axes):
    assert parse_catalog(text) == Catalog(*axes)


def test_a_named_catalog_takes_several_values_of_a_hyperparameter():
    rules = ["dcfr(alpha=1)", "dcfr(alpha=2)"]
    assert parse_catalog("tabular + dcfr(alpha=1|2)") == Catalog.tabular().plus(update_rules=rules)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tabluar + cfr", "unknown catalog 'tabluar'; did you mean 'tabular'"),
        ("my_cfr + cfr_plus", "unknown component 'my_cfr'; .* `rlccfr --load FILE` before the command"),
        ("external + none", "the catalog 'external . none' has no update rule: list one, as in"),
        ("dcfr(alpha=1|1)", "the update rule 'dcfr.alpha=1.' is in the catalog twice"),
        ("dcfr(alpha=1|two)", "alpha must be a number"),
        ("dcfr(alpha=1|2)(3)", "a component looks like dcfr"),
        ("dcfr(alpha=1|2)(gamma=3)", "a component looks like dcfr"),
        ("dcfr(alpha=(1|2)", "a component looks like dcfr"),
        ("dcfr(alpha=1|-1e9)", "alpha must lie in"),
        ("", "unknown component ''"),
    ],
)
def test_what_is_no_catalog_is_refused_in_one_line(text, message):
    with pytest.raises(RLCCFRError, match=message) as error:
        parse_catalog(text)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_sweep_of_two_values_is_two_runs(run):
    catalog = ("--catalog", "dcfr(alpha=1|1.5)")
    limits = ("--iterations", "10", "--seconds", "0", "--option", "pilot=no", "--workers", "1")
    assert run("sweep", "kuhn", *catalog, *limits, "--json")[:2] == (0, '{\n "kuhn": {\n  "ok": 2\n }\n}\n')


@pytest.mark.parametrize(
    ("games", "name"),
    [
        (["kuhn", "random_poker(seed=0)"], "paper"),
        (["holdem(ranks=6)", "bluff"], "public"),
        (["texas_holdem(buckets=5)", "holdem(buckets=2)"], "buckets"),
    ],
)
def test_the_default_catalog_fits_the_form_of_the_games(games, name):
    assert default_catalog(games) == name


@pytest.mark.parametrize(
    ("games", "message"),
    [
        (["kuhn", "holdem"], "is 'paper' for 'kuhn' and 'public' for 'holdem': name one with --catalog"),
        (
            ["generated(kuhn_poker)"],
            r"there is no catalog: list algorithms, as in --catalog \"deep_lcfr\(preset='states'",
        ),
    ],
)
def test_games_without_one_default_catalog_are_refused_in_one_line(games, message):
    with pytest.raises(RLCCFRError, match=message) as caught:
        default_catalog(games)
    assert "\n" not in str(caught.value)
