"""Games of buckets that are made of a public tree's hands."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from public_games import openspiel_form
from support import game

import rlccfr
from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.public.evaluation import public_values
from rlccfr.errors import ComponentError
from rlccfr.games.merging import pairs
from rlccfr.games.merging.bucketed import bucketed
from rlccfr.games.merging.cache import merged_game
from rlccfr.games.merging.hands import hand_buckets, rounds_by_cards, rows_of
from rlccfr.games.merging.kmeans import kmeans_buckets
from rlccfr.games.merging.pairs import numbered, pairs_of
from rlccfr.games.merging.percentiles import equity_buckets
from rlccfr.games.merging.symmetric import symmetric_buckets

SMALL = "ranks=4,suits=2,private=2,flop=2"
GAMES = (
    SMALL,
    "ranks=3,suits=2,private=1,flop=1",
    "ranks=6,suits=2,private=1,flop=1,rounds=1,raises=3",
    "ranks=6,suits=1,private=1,flop=1,rounds=3",
    "ranks=5,suits=3,private=2,flop=3,raises=2",
)


def holdem(parameters):
    return rlccfr.load_game(f"holdem({parameters})")


def random_buckets(public):
    """Split the hands of each round at random within the buckets of the round before."""
    rng = np.random.default_rng(0)
    return hand_buckets(public, "random", lambda own: own[:, None], lambda own, mass: rng.integers(3, size=len(own)))


@pytest.mark.parametrize("parameters", GAMES)
def test_a_policy_of_buckets_has_the_same_value_in_both_games(parameters):
    public, rng = holdem(parameters), np.random.default_rng(1)
    merged = bucketed(public, random_buckets(public))
    policy = merged.tree.normalised(rng.random(merged.tree.num_sequences))
    inside, whole = evaluated(merged.tree, policy), public_values(public, merged.expand(policy))
    assert inside[0] == pytest.approx(whole[0], abs=1e-12)
    assert inside[1] <= whole[1] + 1e-12
    assert inside[2] <= whole[2] + 1e-12


@pytest.mark.parametrize("parameters", ["ranks=3,suits=2,private=1,flop=1", SMALL])
def test_a_bucket_for_each_hand_is_the_game(parameters):
    public, rng = holdem(parameters), np.random.default_rng(2)
    merged = bucketed(public, np.arange(len(public.view.above)))
    assert merged.tree.num_sequences == public.num_sequences
    policy = merged.tree.normalised(rng.random(merged.tree.num_sequences))
    assert evaluated(merged.tree, policy) == pytest.approx(public_values(public, merged.expand(policy)), abs=1e-12)


@pytest.mark.parametrize("parameters", GAMES)
def test_pairs_of_buckets_have_probabilities(parameters):
    public = holdem(parameters)
    no_limit = np.zeros((len(rounds_by_cards(public)), 2))
    for met in pairs_of(public, *numbered(public, random_buckets(public)), no_limit):
        assert np.bincount(met.half, met.probability) == pytest.approx(np.ones(len(met.parent)))
        assert np.bincount(met.parent, met.half_probability) == pytest.approx(np.ones(met.parent.max() + 1))
        assert np.abs(met.win_margin).max() <= 1 + 1e-12


@pytest.mark.parametrize(
    "parameters", ["ranks=6,suits=2,private=1,flop=1,raises=2", pytest.param(SMALL, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("buckets", [2, 3])
def test_percentiles_are_those_of_the_compiled_game(parameters, buckets):
    found = [
        rlccfr.Solver(tree, "cfr", abstraction=f"equity(buckets={buckets})").run(iterations=30, curve=False)
        for tree in (holdem(parameters), game(openspiel_form(parameters)))
    ]
    assert found[0].exploitability == pytest.approx(found[1].exploitability, abs=1e-10)
    assert found[0].exploitability_abstract == pytest.approx(found[1].exploitability_abstract, abs=1e-10)


def test_clusters_are_those_of_the_compiled_game():
    parameters = "ranks=6,suits=2,private=1,flop=1,raises=2"
    public, tree = holdem(parameters), game(openspiel_form(parameters))
    found = [rlccfr.Solver(one, "cfr", abstraction="kmeans(buckets=2)") for one in (public, tree)]
    for solver in found:
        solver.run(iterations=30, curve=False)
    assert found[0].exploitability() == pytest.approx(found[1].exploitability(), abs=1e-10)
    assert len(np.unique(kmeans_buckets(public, 2, "moments")[rows_of(public, rounds_by_cards(public)[0])])) == 2


@pytest.mark.parametrize(
    ("suits", "expected"),
    [
        (1, [0.0, 1 / 3, 2 / 3, 1.0]),  # the flop, one card, pairs nobody
        (2, [3 / 14, 17 / 42, 25 / 42, 11 / 14]),  # by listing all hands and flops
    ],
)
def test_hand_strengths_before_the_flop_are_fair_and_rise_with_the_card(suits, expected):
    strengths, public = [], holdem(f"ranks=4,suits={suits},private=1,flop=1")

    def keep(features, mass):
        strengths.append(features[:, 0])
        return np.zeros(len(features), np.int64)

    hand_buckets(public, "test", lambda own: own[:, None], keep)
    assert np.average(strengths[0]) == pytest.approx(0.5)
    assert strengths[0] == pytest.approx(expected)


@pytest.mark.slow
def test_a_game_of_buckets_is_kept_without_keeping_the_game():
    public = holdem(SMALL)
    first, second = (merged_game(public, lambda one: equity_buckets(one, 2), "two") for _ in range(2))
    assert first.tree is second.tree
    assert first.whole is public
    gone = weakref.ref(public)
    del public, first, second
    gc.collect()
    assert gone() is None


def test_unsound_buckets_are_refused(monkeypatch):
    public = holdem("ranks=3,suits=2,private=1,flop=1")
    size, first = len(public.view.above), rows_of(public, rounds_by_cards(public)[0])
    with pytest.raises(ComponentError, match=rf"must be numbers of shape \({size},\), not float64 of shape \(3,\)"):
        bucketed(public, np.zeros(3))
    with pytest.raises(ComponentError, match=r"must be numbers .*, not object"):
        bucketed(public, np.array(["a", 1] * size, object)[:size])
    forgetful = np.zeros(size)
    forgetful[first] = np.arange(first.stop)
    with pytest.raises(
        ComponentError, match=r"share a bucket in round 2 but not in the round before, .*: split the buckets of round 2"
    ):
        bucketed(public, forgetful)
    with pytest.raises(ComponentError, match=r"buckets are made of hands, which .*bluff.* lacks"):
        bucketed(rlccfr.load_game("bluff"), np.zeros(3))
    with pytest.raises(ComponentError, match="'equity' needs a game with showdowns"):
        equity_buckets(rlccfr.load_game("bluff"), 2)
    with pytest.raises(ComponentError, match="has its suits merged already"):
        symmetric_buckets(public)


def test_buckets_that_do_not_fit_are_refused_before_they_take_memory(monkeypatch):
    public = holdem("ranks=3,suits=2,private=1,flop=1")
    bucket = equity_buckets(public, 2)
    histories = bucketed(public, bucket).tree.num_histories
    monkeypatch.setattr(pairs, "MOST_HISTORIES", histories)
    bucketed(public, bucket)
    monkeypatch.setattr(pairs, "MOST_HISTORIES", histories - 1)
    with pytest.raises(ComponentError, match=rf"above the limit of {histories - 1}: use fewer buckets"):
        bucketed(public, bucket)
    monkeypatch.undo()
    monkeypatch.setattr(pairs, "available_memory", lambda: pairs.BYTES * 10)
    with pytest.raises(ComponentError, match="above the limit of 10: use fewer buckets"):
        bucketed(public, bucket)
    monkeypatch.setattr(pairs, "MOST_BUCKETS", 3)
    with pytest.raises(ComponentError, match="buckets in a round, above the limit of 3: use fewer"):
        bucketed(public, np.arange(len(public.view.above)))


def test_only_which_hands_share_a_bucket_matters():
    public = holdem(SMALL)
    bucket = equity_buckets(public, 3)
    assert np.array_equal(bucketed(public, -0.5 * bucket).bucket, bucketed(public, bucket).bucket)
    assert bucketed(public, -bucket).content_hash == bucketed(public, bucket).content_hash
    assert bucketed(public, bucket // 2).content_hash != bucketed(public, bucket).content_hash
