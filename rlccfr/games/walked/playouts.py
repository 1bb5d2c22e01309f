"""Random playouts of a game that is solved without being compiled: they check it, and estimate its size.

Since such a game is never traversed, its claims can't be checked at all of its histories. Playouts check some of them:
whether the players' returns sum to what the game declares, whether chance's numbers are probabilities, and whether the
information state tensors, which networks read, distinguish the same infosets as the information state strings.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.claims import (
    after,
    broken_at,
    near,
    no_moves,
    not_probabilities,
    repeated,
    sum_tolerance,
)
from rlccfr.games.records import CHANCE
from rlccfr.games.traversal import stuck

MOST_DECISIONS = 8_000
"""Number of decisions after which no further playout begins."""

MOST_PLAYOUTS = 1_000
"""Largest number of playouts."""

SEED = 0
"""Seed of the playouts, always the same, so that a game's hash does not change."""


class Playouts(NamedTuple):
    """What random playouts of a game have met.

    Attributes:
        num_infosets: number of different infosets of both players.
        num_sequences: number of actions at these infosets, added up.
        num_merged: number of these infosets that have the same tensor and legal actions as another one; networks can't
            distinguish them.
        num_forgetful: number of these infosets at which a player has forgotten an earlier move or observation.
        draws_chance: whether a chance node has more than one outcome.
        least, largest: (columns,) smallest and largest number in each column of the tensors, float32.
        is_binary: whether all of these numbers are 0 or 1.
        branchings: for each playout, the player and the number of legal actions at each decision.
        digest: hash of all that the playouts met.
    """

    num_infosets: int
    num_sequences: int
    num_merged: int
    num_forgetful: int
    draws_chance: bool
    least: np.ndarray
    largest: np.ndarray
    is_binary: bool
    branchings: Sequence[Sequence[tuple[int, int]]]
    digest: str

    def histories_per_walk(self, subset_size: int = 0) -> float:
        """Estimate how many histories a walk meets if both players' policies are uniform (Knuth, 1975).

        A walk follows one outcome of chance and one action of the opponent, but all actions of the traverser, or at
        most ``subset_size`` of them. So on a random path down to some depth, the product of the numbers of actions that
        are followed is an unbiased estimate of the number of histories that the walk meets at that depth.

        Args:
            subset_size: largest number of actions that the walk follows at a decision of the traverser; 0 for all.
        """
        total = 0.0
        for traverser in (0, 1):
            for branching in self.branchings:
                weight = 1.0
                total += 1.0  # the first decision
                for player, num_actions in branching:
                    if player == traverser:
                        weight *= min(num_actions, subset_size) if subset_size else num_actions
                    total += weight
        return total / (2 * len(self.branchings))


class _Met:
    """What playouts have met so far."""

    def __init__(self, num_columns: int) -> None:
        self.tensors_of: dict[tuple[int, str], set[bytes]] = defaultdict(set)
        self.strings_of: dict[tuple[int, bytes], set[str]] = defaultdict(set)
        self.actions_of: dict[tuple[int, str], tuple[int, ...]] = {}
        # Hashes of the player's earlier infosets and actions; with perfect recall, there is one for each infoset.
        self.pasts_of: dict[tuple[int, str], set[int]] = defaultdict(set)
        self.past = [0, 0]  # of each player in the present playout
        self.least = np.full(num_columns, np.inf, np.float32)
        self.largest = np.full(num_columns, -np.inf, np.float32)
        self.is_binary = True
        self.draws_chance = False
        self.num_decisions = 0
        self.branchings: list[list[tuple[int, int]]] = []
        self.least_payoff = math.inf
        self.largest_payoff = -math.inf
        self.hash = hashlib.sha256()

    def note_decision(self, state: Any, name: str) -> None:
        """Record a decision.

        Raises:
            GameError: the actions of an infoset differ from those at an earlier history of it.
        """
        player = int(state.current_player())
        text = state.information_state_string(player)
        tensor = np.array(state.information_state_tensor(player), np.float32)
        actions = tuple(sorted(state.legal_actions()))
        key = player, text
        if self.actions_of.setdefault(key, actions) != actions:
            fault = (
                f"infoset {text!r} of player {player} offers the actions {list(actions)}, but "
                f"{list(self.actions_of[key])} at another history; all histories of an infoset must offer the same "
                "actions"
            )
            raise broken_at(name, after(state.history()), fault)
        row = tensor.tobytes() + bytes(str(actions), "ascii")
        self.pasts_of[key].add(self.past[player])
        self.tensors_of[key].add(row)
        self.strings_of[player, row].add(text)
        np.minimum(self.least, tensor, out=self.least)
        np.maximum(self.largest, tensor, out=self.largest)
        self.is_binary = self.is_binary and bool(((tensor == 0) | (tensor == 1)).all())
        self.num_decisions += 1
        self.branchings[-1].append((player, len(actions)))
        self.hash.update(text.encode() + row)


def played_out(game: Any, name: str, utility_sum: float) -> Playouts:
    """Play a game at random many times, and return what the playouts have met.

    Args:
        game: OpenSpiel's game, in which players move in turn.
        name: its name, for errors.
        utility_sum: what both players' returns must sum to.

    Raises:
        GameError: the game breaks a claim, tensors differ within an infoset, or a playout does not end.
    """
    met = _Met(game.information_state_tensor_size())
    rng = np.random.default_rng(SEED)
    while met.num_decisions < MOST_DECISIONS and len(met.branchings) < MOST_PLAYOUTS:
        _play_once(game.new_initial_state(), name, utility_sum, met, rng)
    split = [key for key, tensors in met.tensors_of.items() if len(tensors) > 1]
    if split:
        player, text = split[0]
        raise GameError(
            f"the information state tensors of {name!r} differ at histories of one infoset, such as {text!r} of player "
            f"{player}, so networks would know more than the player: load the game without form='generated'"
        )
    # Networks clip and scale by these bounds, so bounds that are too narrow would distort what they learn.
    low, high = game.min_utility(), game.max_utility()
    if met.least_payoff < low or met.largest_payoff > high:
        raise GameError(
            f"{name!r} declares payoffs from {low:g} to {high:g}, but player 0 gets from {met.least_payoff:g} to "
            f"{met.largest_payoff:g}: min_utility and max_utility must be true bounds"
        )
    num_merged = sum(len(strings) for strings in met.strings_of.values() if len(strings) > 1)
    return Playouts(
        num_infosets=len(met.actions_of),
        num_sequences=sum(len(actions) for actions in met.actions_of.values()),
        num_merged=num_merged,
        num_forgetful=sum(len(pasts) > 1 for pasts in met.pasts_of.values()),
        draws_chance=met.draws_chance,
        least=met.least,
        largest=met.largest,
        is_binary=met.is_binary,
        branchings=met.branchings,
        digest=met.hash.hexdigest(),
    )


def _play_once(state: Any, name: str, utility_sum: float, met: _Met, rng: np.random.Generator) -> None:
    """Play a game once, with all legal actions equally likely."""
    met.branchings.append([])
    met.past = [0, 0]
    while not state.is_terminal():
        # Fewer than MOST_DECISIONS were made before this playout, so it alone has made more than MOST_DECISIONS.
        if met.num_decisions >= 2 * MOST_DECISIONS:
            raise GameError(
                f"a random playout of {name!r} does not end within {MOST_DECISIONS:,} decisions: choose another game"
            )
        if state.is_chance_node():
            state.apply_action(_random_outcome(state, name, met, rng))
            continue
        actor = int(state.current_player())
        actions = state.legal_actions() if actor in (0, 1) else []
        if not actions:
            raise broken_at(name, after(state.history()), stuck(actor))
        _check_different(actions, "legal action", state, name)
        met.note_decision(state, name)
        action = actions[int(rng.integers(len(actions)))]
        met.past[actor] = hash((met.past[actor], state.information_state_string(actor), action))
        state.apply_action(action)
    returns = state.returns()
    if len(returns) != 2:
        raise broken_at(name, after(state.history()), f"there are {len(returns)} returns; there must be 2")
    check_returns(np.array([returns]), utility_sum, name)
    met.least_payoff = min(met.least_payoff, returns[0])
    met.largest_payoff = max(met.largest_payoff, returns[0])
    met.hash.update(np.array(returns).tobytes())


def _random_outcome(state: Any, name: str, met: _Met, rng: np.random.Generator) -> int:
    """Draw a chance outcome at a state, after checking all outcomes.

    Raises:
        GameError: there is no outcome, one is listed twice, or their numbers are not probabilities.
    """
    outcomes = [(outcome, probability) for outcome, probability in state.chance_outcomes() if probability != 0]
    if not outcomes:
        raise broken_at(name, after(state.history()), no_moves(CHANCE))
    _check_different([outcome for outcome, _ in outcomes], "chance outcome", state, name)
    probabilities = np.array([probability for _, probability in outcomes])
    if not ((probabilities >= 0).all() and near(probabilities.sum(), 1.0)):
        raise broken_at(name, after(state.history()), not_probabilities(probabilities))
    met.draws_chance = met.draws_chance or len(outcomes) > 1
    return int(outcomes[int(rng.choice(len(outcomes), p=probabilities / probabilities.sum()))][0])


def _check_different(numbers: list[int], what: str, state: Any, name: str) -> None:
    """Check that no action or outcome of a state is listed twice."""
    for number, count in Counter(numbers).items():
        if count > 1:
            raise broken_at(name, after(state.history()), repeated(what, number))


def check_returns(returns: np.ndarray, utility_sum: float, name: str) -> None:
    """Check both players' returns at some terminal histories.

    Args:
        returns: (histories, 2) the returns.
        utility_sum: what they must sum to at each history.
        name: the game's name, for the error.

    Raises:
        GameError: a return is not finite, or their sum is wrong.
    """
    sound = np.isfinite(returns).all(axis=1)
    if sound.all():
        sound = np.abs(returns.sum(axis=1) - utility_sum) <= sum_tolerance(np.abs(returns).max(axis=1))
    if not sound.all():
        first, second = returns[np.flatnonzero(~sound)[0]].tolist()
        raise GameError(
            f"{name!r} can't be solved: the returns at a terminal history are {first:g} and {second:g}; they must be "
            f"finite and sum to {utility_sum:g} everywhere"
        )
