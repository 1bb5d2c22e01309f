"""Public states are what both players know in common, in games whose public moves are known."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import rlccfr
from rlccfr.explorer.public_states import public_states
from rlccfr.games.openspiel_policies import edge_names
from rlccfr.games.records import CHANCE

GOOFSPIEL = "goofspiel(num_cards=3,imp_info=True,points_order=descending)"


def found(name):
    """Return the game, its public states, and the number of them at each depth."""
    tree = rlccfr.load_game(name)
    states = public_states(tree)
    depth = np.zeros(len(states.parent), int)
    for state in range(1, len(depth)):
        depth[state] = depth[states.parent[state]] + 1
    return tree, states, np.bincount(depth).tolist()


def test_poker_shows_bets_and_the_board_alone():
    # Two deals, which nobody sees; then pass or bet; then the answer; and the answer to a bet after a pass.
    assert found("kuhn")[2] == [1, 1, 1, 2, 4, 2]
    # A call or a raise, and what answers it: cc, cr, rf, rc, rr. After cc one of three cards is dealt.
    assert found("leduc(ranks=3,suits=1,raises=2)")[2][:5] == [1, 1, 1, 2, 5]


def test_dice_show_bids_alone():
    # Bids rise among six; at depth k after the rolls, k of the bids, or fewer and then a call.
    bids = 6
    bidding = [comb(bids, k) + (comb(bids, k - 1) if k > 1 else 0) for k in range(1, bids + 2)]
    assert found("liars_dice(numdice=1,dice_sides=3)")[2] == [1, 1, 1, *bidding]


def test_hidden_bids_show_who_won_and_ties_show_the_bid():
    assert found(GOOFSPIEL)[2][:3] == [1, 1, 2 + 3]


@pytest.mark.parametrize("name", ["kuhn", "leduc(ranks=2,suits=2,raises=1)", GOOFSPIEL, "random_moves(seed=1,moves=4)"])
def test_no_infoset_is_cut_and_a_state_comes_from_one_state(name):
    tree, states, _ = found(name)
    decides = np.flatnonzero(tree.histories["actor"] < CHANCE)
    infoset, state = tree.histories["infoset"][decides], states.of_history[decides]
    first = np.full(tree.num_infosets, -1)
    first[infoset] = state
    assert (first[infoset] == state).all()
    for level, above, _ in tree.levels():
        assert (states.parent[states.of_history[level]] == states.of_history[above]).all()


def test_a_bet_is_one_move_of_one_state():
    tree, states, _ = found("kuhn")
    names = edge_names(tree)
    for state in range(3, len(states.parent)):
        assert len({names[history] for history in np.flatnonzero(states.of_history == state)}) == 1
