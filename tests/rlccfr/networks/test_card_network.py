"""The network for card games."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support import engine_state, game

import rlccfr
from rlccfr.networks.card_network import CardNetwork
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.settings import Approximator
from rlccfr.registry import make

SETTINGS = Approximator(kind="cards", hidden=16, train_steps=200, batch_size=64, learning_rate=3e-3)


def test_columns_of_cards_are_found_by_when_they_are_dealt():
    """Leduc's tensor has the private card, then the public one, and then the bets."""
    tree = game("leduc")
    for player in (0, 1):
        inputs = inputs_of(tree, player, per_sequence=False, cards=True)
        private, public = inputs.cards
        assert len(private) == len(public) == 6
        one_card = inputs.matrix[:, private].sum(axis=1)
        assert set(one_card) == {1.0}
        assert set(inputs.matrix[:, public].sum(axis=1)) == {0.0, 1.0}
        assert inputs.matrix.shape[1] > 12


def test_kuhn_has_one_group():
    (cards,) = inputs_of(game("kuhn"), 0, per_sequence=False, cards=True).cards
    assert len(cards) == 3


def test_a_game_without_cards_is_refused():
    with pytest.raises(rlccfr.ComponentError, match="no card is dealt that a player sees: use model='mlp'"):
        rlccfr.Solver(game("dark_hex(board_size=2)"), "deep_cfr(model='cards')", "external")


def test_a_width_of_1_is_refused():
    """Its numbers can't be scaled to a standard deviation of 1."""
    for components in (
        ("deep_cfr(model='cards', hidden=1)", "external"),
        ("cfr", "none", "rcfr(model='cards',hidden=1)"),
    ):
        with pytest.raises(rlccfr.ComponentError, match="hidden must be at least 2 with model='cards', not 1"):
            rlccfr.Solver(game("kuhn"), *components)
    rlccfr.Solver(game("kuhn"), "deep_cfr(model='cards', hidden=2)", "external").run(iterations=1)


@pytest.mark.slow
def test_the_head_starts_at_zero_and_fits():
    inputs = inputs_of(game("leduc"), 0, per_sequence=False, cards=True)
    model = CardNetwork(inputs, SETTINGS, [1])
    rng = np.random.default_rng(1)
    rows = len(inputs.matrix)
    target = np.sin(inputs.matrix @ rng.normal(size=inputs.matrix.shape[1]))[inputs.position // inputs.num_outputs]
    assert not model.predict().any()
    model.fit(target, np.ones(rows), [2])
    before = np.mean(target**2)
    assert np.mean((model.predict() - target) ** 2) < before / 3
    snapshot = model.weights()
    found = model.predict()
    model.fit(-target, np.ones(rows), [3])
    np.testing.assert_array_equal(model.predict(snapshot), found)


def test_draws_do_not_touch_torchs_generator():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    CardNetwork(inputs_of(game("kuhn"), 0, per_sequence=False, cards=True), SETTINGS, [1])
    assert torch.rand(1) == expected


@pytest.mark.slow
def test_a_network_can_be_saved_before_its_first_fit():
    inputs = inputs_of(game("kuhn"), 0, per_sequence=False, cards=True)
    first, second = CardNetwork(inputs, SETTINGS, [1]), CardNetwork(inputs, SETTINGS, [2])
    second.restore(first.state())
    target = np.arange(len(inputs.position), dtype=float)
    for model in (first, second):
        model.fit(target, np.ones(len(inputs.matrix)), [3])
    np.testing.assert_array_equal(first.weights(), second.weights())


@pytest.mark.slow
@pytest.mark.parametrize("average", ["network", "value_networks"])
def test_runs_are_resumed(average, tmp_path):
    rule, tree = make("deep_lcfr", model="cards", preset="sweep", train_every=2, average=average), game("kuhn")
    whole, part = (rlccfr.Solver(tree, rule, "external", seed=3) for _ in range(2))
    whole.run(iterations=12, curve=False)
    part.run(iterations=6, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree)
    resumed.run(iterations=6, curve=False)
    for name, array in engine_state(whole).items():
        np.testing.assert_array_equal(array, engine_state(resumed)[name])


@pytest.mark.slow
def test_deep_cfr_learns_with_it():
    rule = make("deep_lcfr", model="cards", preset="sweep")
    reached = rlccfr.Solver(game("kuhn"), rule, "external", seed=1).run(iterations=150, curve=False).exploitability
    assert reached < rlccfr.Policy.uniform(game("kuhn")).exploitability() / 5
