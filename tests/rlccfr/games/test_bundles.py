"""Cutting a sequence form into bundles."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from random_games import RandomGame
from support import game

import rlccfr
from rlccfr.engine.reduced import quotient_for_passes
from rlccfr.games import bundles
from rlccfr.games.bundles import aligned_zeros, bundles_of
from rlccfr.games.quotient import quotient_of
from rlccfr.games.records import BUNDLE_LANES

GAMES = (
    "kuhn",
    "leduc",
    "leduc(ranks=4,suits=4)",
    "liars_dice(numdice=1,dice_sides=3)",
    "leduc(ranks=13,suits=2,raises=1)",
)


@pytest.fixture
def always(monkeypatch):
    """Cut every game, whether its lanes are filled or not."""
    monkeypatch.setattr(bundles, "LEAST_FILL", 0.0)


def random_tree(seed, folder):
    """Return a random game with up to three actions at each move."""
    return rlccfr.load_game(RandomGame(Random(seed), depth=5).write(folder / f"{seed}.efg"))


def forms(name):
    """Return a game and, if it has one, its quotient."""
    tree = game(name)
    return [form for form in (tree, quotient_of(tree)) if form is not None]


def assert_is_cut(form):
    """Check a form's bundles against its infosets and payoffs."""
    cut = bundles_of(form)
    view = cut.view
    owner = form.owner
    num_sequences = form.num_sequences
    first_sequence = form.view.first_sequence.astype(int)
    action = np.arange(num_sequences) - first_sequence[owner]
    lane = cut.entry % BUNDLE_LANES
    first = view.first.astype(int)
    bundle = np.searchsorted(first, cut.entry, side="right") - 1

    # Each sequence has an entry of its own; those of an infoset are in one lane, action after action.
    assert len(np.unique(cut.entry)) == num_sequences
    assert (cut.entry // BUNDLE_LANES == first[bundle] // BUNDLE_LANES + action).all()
    for infoset in range(form.num_infosets):
        sequences = form.infoset_sequences(infoset)
        assert len(set(lane[sequences])) == len(set(bundle[sequences])) == 1
        assert view.actions[bundle[sequences.start]] == sequences.stop - sequences.start

    # Reach and values go from lane to the same lane; where a player has no choice, reach comes from further up.
    is_choice = np.diff(first_sequence) > 1
    level_of = {}
    for infoset, parent in enumerate(form.view.parent.astype(int)):
        sequence = first_sequence[infoset]
        own = bundle[sequence]
        level_of.setdefault(view.value[own], set()).add(form.infoset_levels[infoset])
        if parent >= num_sequences:
            assert view.parent[own] == cut.num_entries
            assert view.parent_value[own] == 0
            continue
        assert lane[parent] == lane[sequence]
        assert own > bundle[parent]
        assert view.parent_value[own] == view.value[bundle[parent]] + BUNDLE_LANES * action[parent]
        while parent < num_sequences and not is_choice[owner[parent]]:
            parent = int(form.view.parent[owner[parent]])
        assert view.parent[own] == (cut.num_entries if parent >= num_sequences else cut.entry[parent] - lane[sequence])
        weights = view.weight[view.weights[own] : view.weights[own] + 2 * BUNDLE_LANES]
        assert weights[lane[sequence]] == form.view.chance_weight[infoset]
        assert weights[BUNDLE_LANES + lane[sequence]] == (
            form.view.multiplicity[infoset] if len(form.view.multiplicity) else 1
        )
    assert all(len(levels) == 1 for levels in level_of.values())

    # Under random reach, each sequence's payoffs are those of the blocks.
    reach = np.zeros(num_sequences + 2)
    reach[-2:] = 1.0
    rng = np.random.default_rng(1)
    for infoset in np.argsort(form.infoset_levels, kind="stable"):
        sequences = form.infoset_sequences(infoset)
        policy = rng.dirichlet(np.ones(sequences.stop - sequences.start))
        reach[sequences] = reach[form.view.parent[infoset]] * policy
    entry_reach = aligned_zeros(cut.num_entries + BUNDLE_LANES)
    entry_reach[cut.entry] = reach[:-2]
    entry_reach[cut.num_entries :] = 1.0
    found = np.zeros(cut.num_entries)
    for number in range(cut.num_entries // BUNDLE_LANES):
        for lines in view.lines[view.lines_begin[number] : view.lines_begin[number + 1]]:
            entries = np.arange(lines["opponent"], lines["opponent"] + lines["lines"])
            if lines["listed"]:
                entries = view.line_entry[entries]
            rows = view.payoff[lines["payoff"] :][: lines["lines"] * BUNDLE_LANES].reshape(-1, BUNDLE_LANES)
            found[BUNDLE_LANES * number : BUNDLE_LANES * (number + 1)] += lines["factor"] * (
                entry_reach[entries] @ rows
            )
    expected = payoffs_by_blocks(form, reach)
    np.testing.assert_allclose(found[cut.entry], expected, atol=1e-12 * abs(form.view.blocks_0["factor"]).max())


def payoffs_by_blocks(form, reach):
    """Return the payoffs at leaves of each sequence, (m,), against the other player's reach."""
    view = form.view
    payoffs = np.zeros(form.num_sequences + 2)
    for blocks, payoff, own, opponent in (
        (view.blocks_0, view.payoff_0, view.leaf_0, view.leaf_1),
        (view.blocks_1, view.payoff_1, view.leaf_1, view.leaf_0),
    ):
        for block in blocks:
            columns = own[block["own"] : block["own_end"]]
            lines = opponent[block["opponent"] : block["opponent_end"]]
            rows = payoff[block["payoff"] :][: len(lines) * block["stride"]].reshape(len(lines), -1)
            payoffs[columns] += block["factor"] * (reach[lines] @ rows)[: len(columns)]
    return payoffs[:-2]


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_games_with_private_cards_and_dice_are_cut(name):
    for form in forms(name):
        if not len(form.view.twin):
            assert_is_cut(form)


@pytest.mark.parametrize("seed", range(30))
def test_every_random_game_can_be_cut(seed, tmp_path, always):
    tree = random_tree(seed, tmp_path)
    if tree.num_infosets:
        assert_is_cut(tree)


@pytest.mark.parametrize(
    ("name", "fill"), [("kuhn", 3), ("leduc", 3), ("liars_dice(numdice=1,dice_sides=4)", 4), ("leduc(ranks=6)", 6)]
)
def test_a_bundle_has_a_lane_for_each_private_card_or_face(name, fill):
    tree = game(name)
    form = quotient_for_passes(tree) or tree
    assert form.num_infosets == fill * len(bundles_of(form).view.first)


def test_games_without_private_information_are_not_cut():
    assert bundles_of(game("goofspiel")) is None


def test_quotients_with_twins_and_huge_games_are_not_cut(monkeypatch, always):
    quotient = quotient_of(game("dark_hex(board_size=2)"))
    assert len(quotient.view.twin)
    assert bundles_of(quotient) is None
    monkeypatch.setattr(bundles, "MOST_CUT_PAYOFFS", 100)
    assert bundles_of(rlccfr.load_game("leduc(ranks=4)")) is None


def test_aligned_zeros_begin_with_a_cache_line():
    for size in range(1, 40):
        table = aligned_zeros(size, 1)
        assert table.shape == (size, 1)
        assert table.ctypes.data % 64 == 0
        assert not table.any()
