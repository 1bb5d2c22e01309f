"""Merged games are sound games over the same histories."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.components import Abstraction
from rlccfr.errors import ComponentError
from rlccfr.games.merging.cache import merged_game
from rlccfr.games.merging.merged import merge
from rlccfr.games.merging.symmetric import symmetric_buckets


def test_distinct_buckets_leave_the_game_as_it_is():
    kuhn = game("kuhn")
    merged = merge(kuhn, np.arange(kuhn.num_infosets)[::-1])
    assert merged.tree is merged.whole is kuhn
    assert np.array_equal(merged.place, np.arange(kuhn.num_sequences))


def test_a_merged_game_has_the_sums_of_its_members():
    leduc = game("leduc")
    merged = merge(leduc, symmetric_buckets(leduc))
    tree, place = merged.tree, merged.place
    assert (tree.num_infosets, tree.num_histories) == (288, leduc.num_histories)
    assert tree.num_sequences == place.max() + 1
    assert tree.view.chance_weight.sum() == pytest.approx(leduc.view.chance_weight.sum())
    assert tree.view.mass_probability.sum() == pytest.approx(leduc.view.mass_probability.sum())
    actors, infosets = leduc.histories["actor"], leduc.histories["infoset"]
    own = actors < 2
    assert np.array_equal(tree.histories["first_sequence"][own], place[leduc.histories["first_sequence"][own]])
    for infoset in np.unique(tree.histories["infoset"][own]):
        members = np.unique(infosets[own & (tree.histories["infoset"] == infoset)])
        weight = leduc.view.chance_weight[members].sum()
        assert tree.view.chance_weight[infoset] == pytest.approx(weight)
    assert leduc.num_infosets == 936  # the game itself is unchanged


def test_a_policy_of_buckets_has_the_same_value_in_both_games():
    from rlccfr.engine.evaluation import evaluated

    leduc, rng = game("leduc"), np.random.default_rng(1)
    merged = merge(leduc, symmetric_buckets(leduc))
    policy = merged.tree.normalised(rng.random(merged.tree.num_sequences))
    assert evaluated(merged.tree, policy) == pytest.approx(evaluated(leduc, merged.expand(policy)), abs=1e-12)


@pytest.mark.slow
def test_a_merged_game_is_kept_without_keeping_the_game():
    tree = rlccfr.load_game("leduc(ranks=2,suits=2,raises=1)")
    assert merged_game(tree, symmetric_buckets, "suits").tree is merged_game(tree, symmetric_buckets, "suits").tree
    gone = weakref.ref(tree)
    del tree
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("buckets", "message"),
    [
        (
            lambda kuhn: 1 // 0,
            r"^the function buckets fails on 'kuhn': ZeroDivisionError: .* \(line \d+ of test_merged.py\)$",
        ),
        (
            lambda: 1,
            "^the function buckets fails on 'kuhn': TypeError: .* takes 0 positional arguments but 1 was given$",
        ),
        (lambda kuhn: None, "^the function buckets returns None for 'kuhn': return an array of buckets$"),
    ],
)
def test_a_buckets_function_that_fails_is_named_in_one_line(buckets, message):
    with pytest.raises(ComponentError, match=message):
        rlccfr.Solver(game("kuhn"), "cfr", abstraction=Abstraction(buckets=buckets))


@pytest.mark.parametrize(
    ("bucket", "message"),
    [
        (lambda kuhn: np.zeros(kuhn.num_infosets), "can't share a bucket: they have different players or actions"),
        (lambda kuhn: np.zeros(3), r"must have the shape \(12,\), one for each infoset"),
        (lambda kuhn: np.where(np.diff(kuhn.view.infoset_begin)[0] <= np.arange(12), np.arange(12), 0), "forget"),
    ],
)
def test_unsound_buckets_are_refused(bucket, message):
    kuhn = game("kuhn")
    with pytest.raises(ComponentError, match=message):
        merge(kuhn, bucket(kuhn))


def test_symmetries_that_exchange_actions_are_refused():
    with pytest.raises(ComponentError, match="exchange actions"):
        symmetric_buckets(game("goofspiel"))
