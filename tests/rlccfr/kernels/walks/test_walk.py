"""Walks that draw public outcomes once for many histories; other samplers are tested as a whole."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pytest
from support import SMALL_DICE, engine_state, game, policy_sums, regrets

import rlccfr
from rlccfr.components import Sampler
from rlccfr.registry import samplers
from rlccfr.testing import Estimates

SHARING = ("public_chance", "opponent_public_chance", "self_public_chance")


@pytest.mark.parametrize("options", [{}, {"simultaneous": True}, {"walks": 3}], ids=str)
@pytest.mark.parametrize("rule", ["cfr", "lcfr_plus", "dcfr", "ecfr"])
@pytest.mark.parametrize("name", ["kuhn", SMALL_DICE])
def test_where_no_chance_is_public_walks_are_exact_passes(name, rule, options):
    walks = rlccfr.Solver(game(name), rule, "public_chance", **options)
    passes = rlccfr.Solver(game(name), rule, "none", simultaneous=options.get("simultaneous", False))
    for _ in range(10):
        walks.run(iterations=1, curve=False)
        passes.run(iterations=1, curve=False)
    assert regrets(walks) == pytest.approx(regrets(passes), abs=1e-12)
    assert policy_sums(walks) == pytest.approx(policy_sums(passes), abs=1e-12)


@pytest.mark.parametrize("rule", ["cfr", "dcfr"])
def test_where_no_chance_is_public_best_responses_meet_all_histories(rule):
    ours, theirs = (
        rlccfr.Solver(game("kuhn"), rule, sampler, "cfr_br")
        for sampler in ("public_chance", Sampler(chance="all", opponent="all"))
    )
    for solver in (ours, theirs):
        solver.run(iterations=50, curve=False)
    np.testing.assert_array_equal(regrets(ours), regrets(theirs))


def seen(sampler: str, player: int, walks: int) -> list[list[tuple[str, str, str]]]:
    """Return the private card, the public card and the first round's bets of each infoset that a walk visits, by walk.

    The public card is empty in the first round.
    """
    tree = game("leduc")
    policy = tree.uniform_policy()
    masses = Estimates.of(samplers[sampler].make(), tree, policy, player, batches=walks, walks=1).mass
    found = []
    for mass in masses:
        keys = [tree.infoset_keys[infoset] for infoset in np.flatnonzero(mass)]
        parts = [re.search(r"\[Private: (\d)\].*?(?:\[Public: (\d)\])?\[Round1: ([\d ]*)\]", key) for key in keys]
        found.append([tuple(part or "" for part in match.groups()) for match in parts if match])
        assert len(found[-1]) == len(keys)
    return found


@pytest.mark.parametrize("player", [0, 1])
def test_a_public_card_is_drawn_once_for_all_private_cards(player):
    together = []
    for walk in seen("public_chance", player, 40):
        cards, own = defaultdict(set), defaultdict(set)
        for private, public, bets in walk:
            if public:
                cards[bets].add(public)
                own[bets].add(private)
        assert len(cards) == 5
        assert all(len(one) == 1 for one in cards.values())
        assert all(own[bets] == set("012345") - cards[bets] for bets in cards)
        together.append(len(set.union(*cards.values())))
    assert max(together) > 1  # each public history has a draw of its own


@pytest.mark.parametrize("player", [0, 1])
def test_one_private_card_is_drawn_and_the_others_cards_are_enumerated(player):
    for walk in seen("self_public_chance", player, 40):
        assert len({private for private, _, _ in walk}) == 1
    for walk in seen("opponent_public_chance", player, 40):
        first = {private for private, public, _ in walk if not public}
        assert len(first) == 5  # all but the opponent's
        for bets in {bets for _, public, bets in walk if public}:
            assert len({public for _, public, other in walk if public and other == bets}) == 1
            assert len({private for private, public, other in walk if public and other == bets}) == 4


@pytest.mark.parametrize("sampler", SHARING)
def test_runs_resume_from_a_checkpoint(sampler, tmp_path):
    whole, part = (rlccfr.Solver(game("leduc"), "dcfr", sampler, seed=5) for _ in range(2))
    whole.run(iterations=40, curve=False)
    part.run(iterations=20, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=game("leduc"))
    resumed.run(iterations=20, curve=False)
    for name, array in engine_state(whole).items():
        np.testing.assert_array_equal(array, engine_state(resumed)[name])


@pytest.mark.slow
@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("sampler", SHARING)
def test_runs_on_leduc_converge(sampler, abstraction):
    tree = game("leduc")
    solver = rlccfr.Solver(tree, "cfr_plus" if abstraction == "none" else "cfr", sampler, abstraction, seed=1)
    reached = solver.run(iterations=10_000 if abstraction == "none" else 2_000, curve=False).exploitability
    assert reached < rlccfr.Policy.uniform(tree).exploitability() / (20 if abstraction == "none" else 8)


@pytest.mark.parametrize("sampler", SHARING)
def test_models_learn_from_such_walks(sampler):
    """A model that is a table learns from walks what the tables of the rule learn."""
    solver = rlccfr.Solver(game("kuhn"), "deep_cfr(model='table',preset='sweep')", sampler, seed=2)
    before = rlccfr.Policy.uniform(game("kuhn")).exploitability()
    assert solver.run(iterations=100, curve=False).exploitability < before / 3
