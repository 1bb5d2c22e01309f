"""NFSP on hold'em reads OpenSpiel's tensors, and its average policy is that of OpenSpiel's agents."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyspiel
import pytest
from open_spiel.python.rl_environment import Environment

import rlccfr
from rlccfr.experiments.deep_holdem import beside_nfsp, ratio_within
from rlccfr.experiments.nfsp_holdem import SPIEL_ACTIONS, HoldemTensors, average_policies, nfsp, state_after
from rlccfr.experiments.policy_gradients import AGENTS, agents, average_mode, play
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.names import rules_of
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.networks.torch_state import contained_randomness

pytest.importorskip("open_spiel.python.pytorch.nfsp", reason="this open_spiel lacks the agents")

NAMES = ("holdem(ranks=5,suits=2)", "holdem(ranks=4,suits=2,private=1)", "holdem(ranks=4,suits=2,rounds=3,flop=1)")


def drawn_states(
    walks: HoldemWalks, spiel_game: pyspiel.Game, count: int
) -> Iterator[tuple[int, np.ndarray, pyspiel.State]]:
    """Yield the player, the row (an array of one) and OpenSpiel's state of some random decisions."""
    rng = np.random.default_rng(0)
    game = walks.game
    deck = game.deals[0].deck
    for place in rng.integers(len(game.decisions), size=count).tolist():
        node = game.view.nodes[game.decisions[place]]
        player = int(node["kind"])
        row = np.zeros(1, walks.row_type)
        row["hand"] = game.view.deals["edge"][node["deal"], player] + rng.integers(game.rows[place])
        row["line"] = walks.line[game.decisions[place]]
        known = walks.cards[row["hand"][0]]
        own = (known[: deck.private] % deck.size).tolist()
        board = (known[deck.private :][known[deck.private :] < walks.no_card] % deck.size).tolist()
        others = [card for card in rng.permutation(deck.size).tolist() if card not in own + board][: deck.private]
        hands = own + others if player == 0 else others + own
        yield player, row, state_after(spiel_game, walks.line_moves[int(row["line"][0])], hands + board)


@pytest.fixture(params=NAMES)
def games(request: pytest.FixtureRequest) -> tuple[HoldemWalks, pyspiel.Game]:
    """A small hold'em game, and the same game in OpenSpiel."""
    rules = rules_of(request.param)
    assert isinstance(rules, Holdem)
    return HoldemWalks(rlccfr.load_game(request.param)), pyspiel.load_game(rules.openspiel_name())


def test_tensors_are_those_of_openspiel(games: tuple[HoldemWalks, pyspiel.Game]) -> None:
    walks, spiel_game = games
    tensors = HoldemTensors(walks, spiel_game)
    for player, row, state in drawn_states(walks, spiel_game, 100):
        assert state.current_player() == player
        np.testing.assert_array_equal(tensors(row)[0], state.information_state_tensor(player))


def test_average_policy_is_that_of_the_agents(games: tuple[HoldemWalks, pyspiel.Game]) -> None:
    walks, spiel_game = games
    size = spiel_game.information_state_tensor_size()
    with contained_randomness(1):
        players = agents("NFSP", size, spiel_game.num_distinct_actions(), 1, 100, AGENTS["NFSP"], (8,))
        for player, row, state in drawn_states(walks, spiel_game, 20):
            legal = walks.legal(row)
            tensor = np.array(state.information_state_tensor(player), np.float32)
            policy = average_policies(players[player], tensor[None], walks.actions, legal)[0]
            with average_mode(players):
                played = players[player].step(_time_step(state, player), is_evaluation=True).probs
            np.testing.assert_allclose(policy, played[[SPIEL_ACTIONS[action] for action in walks.actions]], atol=1e-6)


def test_a_run_repeats_by_its_seed():
    settings = {"reservoir_buffer_capacity": 1000, "replay_buffer_capacity": 1000, "anticipatory_param": 0.5}
    settings |= {"min_buffer_size_to_learn": 10, "batch_size": 8, "learn_every": 4, "optimizer_str": "adam"}
    runs = [nfsp(NAMES[1], (30, 60), seed, **settings) for seed in (3, 3, 4)]
    same, again, other = [[row["exploitability"] for row in rows] for rows in runs]
    assert same == again != other
    assert same[0] != same[1]
    assert [row["iterations"] for row in runs[0]] == [30, 60]
    assert runs[0][1]["histories"] > 2 * 60  # each game has a decision and an end


def test_payoffs_are_counted_in_the_given_unit():
    class Recorder:
        def __init__(self) -> None:
            self.rewards: list[float] = []

        def step(self, time_step: Any) -> Any:
            if time_step.last():
                self.rewards = time_step.rewards
                return None
            return SimpleNamespace(action=time_step.observations["legal_actions"][time_step.current_player()][0])

    player = Recorder()
    num_decisions = play(Environment(pyspiel.load_game("kuhn_poker")), [player, player], unit=4.0)
    assert num_decisions == 2  # both players pass
    assert sorted(player.rewards) == [-0.25, 0.25]


def test_a_table_of_a_run_is_compared_at_equal_time_and_at_equal_histories():
    columns = ["setting", "seed", "CPU seconds", "histories", "exploitability", "iterations"]
    rows = [
        ("falling", 1, 10.0, 100, 8.0, 1),
        ("falling", 1, 20.0, 900, 2.0, 2),
        ("NFSP", 1, 5.0, 10, 9.0, 50),
        ("NFSP", 1, 25.0, 300, 4.0, 100),
        ("NFSP", 2, 25.0, 300, 4.0, 100),  # without a run of Deep CFR that has its seed
    ]
    runs = pd.DataFrame(rows, columns=columns)
    ends = runs[runs["setting"] == "NFSP"].groupby("seed").tail(1).set_index("seed")
    assert ratio_within(runs, ends, "CPU seconds").mean == pytest.approx(2.0 / 4.0)
    assert ratio_within(runs, ends, "histories").mean == pytest.approx(8.0 / 4.0)
    claim = beside_nfsp(runs)
    assert set(claim.findings) == {"flop hold'em, equal CPU seconds", "flop hold'em, equal histories"}
    assert np.isnan(ratio_within(runs, ends.assign(histories=50), "histories").mean)


def _time_step(state: pyspiel.State, player: int) -> Any:
    """Return what OpenSpiel's agents read of a state."""
    observations = {
        "info_state": {player: state.information_state_tensor(player)},
        "legal_actions": {player: state.legal_actions()},
    }
    return SimpleNamespace(observations=observations, last=lambda: False, current_player=lambda: player)
