"""NFSP on limit hold'em, as OpenSpiel implements it, with exact exploitability over the public tree.

Source: Heinrich and Silver, Deep reinforcement learning from self-play in imperfect-information games, 2016.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyspiel

from rlccfr.engine.walked.tabulated import tabulated
from rlccfr.errors import RLCCFRError
from rlccfr.experiments.experiment import Row
from rlccfr.experiments.policy_gradients import agents, play
from rlccfr.game import policy_class
from rlccfr.games.names import load_game
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.names import rules_of
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.networks.torch_state import contained_randomness, one_thread

SPIEL_ACTIONS = {"f": 0, "c": 1, "r": 2}
"""OpenSpiel's numbers of the actions of limit hold'em."""

NUM_PLAYERS = 2

WIDTHS = (64, 64)
"""Numbers of units of the hidden layers of the agents' networks."""


class HoldemTensors:
    """OpenSpiel's information state tensors at the decisions of a hold'em game.

    A tensor has a number for each player (1 for the one who acts), a number for each card of the deck (1 for the
    player's own cards), a number for each card again (1 for those of the board), and numbers for the betting.

    Args:
        walks: the game.
        spiel_game: the same game in OpenSpiel.
    """

    def __init__(self, walks: HoldemWalks, spiel_game: pyspiel.Game) -> None:
        deck = walks.game.deals[0].deck
        self._cards = walks.cards
        self._no_card = walks.no_card
        self._num_private = deck.private
        self._deck_size = deck.size
        self._tensor_of_line = np.array([self._without_cards(spiel_game, moves) for moves in walks.line_moves])

    def _without_cards(self, spiel_game: pyspiel.Game, moves: tuple[str, ...]) -> np.ndarray:
        """Return the tensor after a betting sequence, with zeros for the cards."""
        state = state_after(spiel_game, moves, range(self._deck_size))
        tensor = np.array(state.information_state_tensor(), np.float32)
        tensor[NUM_PLAYERS : NUM_PLAYERS + 2 * self._deck_size] = 0.0
        return tensor

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the tensors at some rows, (rows, numbers) float32.

        Args:
            rows: hands and lines, of type ``HoldemWalks.row_type``.
        """
        tensors: np.ndarray = self._tensor_of_line[rows["line"]]
        for place, cards in enumerate(self._cards[rows["hand"]].T):
            # The cards of the board come after the player's own.
            first_number = NUM_PLAYERS if place < self._num_private else NUM_PLAYERS + self._deck_size
            dealt = np.flatnonzero(cards != self._no_card)
            # A card of the board has another number in each round in which it may be dealt.
            tensors[dealt, first_number + cards[dealt] % self._deck_size] = 1.0
        return tensors


def state_after(spiel_game: pyspiel.Game, moves: tuple[str, ...], cards: Iterable[int]) -> pyspiel.State:
    """Return the state of one of OpenSpiel's hold'em games after a betting sequence.

    Args:
        spiel_game: the game.
        moves: the actions of each round so far, such as ``("rc", "")``.
        cards: the cards in the order in which they are dealt: player 0's, player 1's, the board's.
    """
    state = spiel_game.new_initial_state()
    next_cards = iter(cards)
    for letters in moves:
        while state.is_chance_node():
            state.apply_action(next(next_cards))
        for letter in letters:
            state.apply_action(SPIEL_ACTIONS[letter])
    return state


def nfsp(game: str, games: tuple[int, ...], seed: int, **settings: Any) -> list[Row]:
    """Train NFSP in self-play, and return the exploitability of its average policy, in mbb/g, after numbers of games.

    Payoffs are counted in big blinds.

    Args:
        game: name of a limit hold'em game.
        games: numbers of played games, ascending.
        seed: seed of the run.
        settings: settings of OpenSpiel's agents.

    Raises:
        RLCCFRError: the game is not limit hold'em, or this version of OpenSpiel does not have the agents.
    """
    with contained_randomness(seed), one_thread():
        return _train(game, games, seed, settings)


def _train(game: str, games: tuple[int, ...], seed: int, settings: Mapping[str, Any]) -> list[Row]:
    """Train and evaluate the agents; see :func:`nfsp`. This changes the global random states."""
    from open_spiel.python.rl_environment import Environment

    rules = rules_of(game)
    if not isinstance(rules, Holdem):
        raise RLCCFRError(f"NFSP is run on limit hold'em, not on {game!r}")
    loaded: Any = load_game(game)
    walks = HoldemWalks(loaded)
    spiel_game = pyspiel.load_game(rules.openspiel_name())
    tensors = HoldemTensors(walks, spiel_game)
    environment = Environment(spiel_game)
    environment.seed(seed)
    (size,) = environment.observation_spec()["info_state"]
    num_actions = environment.action_spec()["num_actions"]
    players = agents("NFSP", size, num_actions, seed, games[-1], settings, WIDTHS)

    def policies(player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        return average_policies(players[player], tensors(rows), walks.actions, legal)

    measured: list[Row] = []
    num_histories = 0
    seconds = 0.0
    for already_played, number in zip((0, *games), games, strict=False):
        begin = time.process_time()
        for _ in range(number - already_played):
            # The end of a game is a history as well.
            num_histories += play(environment, players, loaded.big_blind) + 1
        seconds += time.process_time() - begin
        policy = policy_class(loaded).from_sums(loaded, tabulated(walks, policies))
        measured.append(
            {
                "iterations": number,
                "histories": num_histories,
                "CPU seconds": seconds,
                "exploitability": 1000.0 * policy.exploitability() / loaded.big_blind,
            }
        )
    return measured


def average_policies(agent: Any, tensors: np.ndarray, actions: Sequence[str], legal: np.ndarray) -> np.ndarray:
    """Return the average policy of one of OpenSpiel's NFSP agents, (rows, actions).

    Args:
        agent: the agent.
        tensors: (rows, numbers) information state tensors.
        actions: names of the actions, in the order of columns.
        legal: (rows, actions) whether each action is legal.
    """
    import torch

    # The agent's methods take one state at a time, but the game has tens of millions, so its network is read here.
    with torch.no_grad():
        logits = agent._avg_network(torch.from_numpy(tensors))[:, [SPIEL_ACTIONS[action] for action in actions]]
        logits[torch.from_numpy(~legal)] = -torch.inf
        policies: np.ndarray = torch.softmax(logits, dim=1).numpy()
    return policies
