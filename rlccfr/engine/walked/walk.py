"""External sampling by walks in step (Lanctot et al., NeurIPS 2009; Brown et al., ICML 2019, algorithms 1 and 2).

The walks of a batch move from level to level of the game together. On the way down, each level's decisions are answered
by one call per player. On the way up, each level's values follow from those of the level below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rlccfr.games.walked.walked_game import TERMINAL, WalkedGame

Policies = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function of a player, rows and their legal actions (rows, actions) that returns policies, (rows, actions)."""


class WalkData(NamedTuple):
    """What walks for one player, the traverser, have met.

    Attributes:
        traverser_rows: (n,) rows of the traverser's decisions, once for each visit.
        gains: (n, actions) at each of them, the value of each action less that of the policy; 0 for illegal actions.
        opponent_rows: (k,) rows of the opponent's decisions, once for each visit.
        opponent_policies: (k, actions) the policy that the opponent played there.
        value: (walks,) the traverser's payoff that each walk estimates.
        num_states: number of histories met.
    """

    traverser_rows: np.ndarray
    gains: np.ndarray
    opponent_rows: np.ndarray
    opponent_policies: np.ndarray
    value: np.ndarray
    num_states: int


class _Level(NamedTuple):
    """The histories that walks have reached after so many moves, and what was done there."""

    states: Any
    terminal: np.ndarray  # (t,) indices of terminal states
    traverser_states: np.ndarray  # (n,) indices of states at which the traverser acts
    traverser_rows: np.ndarray  # (n,) what it knows there
    traverser_policies: np.ndarray  # (n, actions) what it plays there
    opponent_states: np.ndarray  # (k,) indices of states at which the opponent acts
    opponent_rows: np.ndarray  # (k,)
    opponent_policies: np.ndarray  # (k, actions)
    place: np.ndarray  # (c,) for each child of the traverser's states, the index of its parent in ``traverser_states``
    action: np.ndarray  # (c,) the action that leads to it


def external_walks(
    game: WalkedGame, traverser: int, policies: Policies, count: int, rng: np.random.Generator
) -> WalkData:
    """Walk through a game, over all of the traverser's actions, and with draws from the opponent's policy and chance.

    Args:
        traverser: the player whose regrets are estimated.
        policies: what both players play.
        count: number of walks.
        rng: generator of all draws.
    """
    levels: list[_Level] = []
    states = game.begin(count, rng)
    num_states = 0
    while True:
        level, drawn = _level_at(game, states, traverser, policies, rng)
        levels.append(level)
        num_states += len(level.terminal) + len(level.traverser_states) + len(level.opponent_states)
        if len(level.place) + len(drawn) == 0:
            break
        # The traverser's children come first, then those of the opponent's states, in the order of their parents.
        parents = np.concatenate([level.traverser_states[level.place], level.opponent_states])
        states = game.children(states, parents, np.concatenate([level.action, drawn]))
    value = np.zeros(0)
    gains: list[np.ndarray] = []
    sign = 1.0 if traverser == 0 else -1.0
    for level in reversed(levels):
        value, level_gains = _values(level, value, sign * game.payoffs(level.states, level.terminal))
        gains.append(level_gains)
    return WalkData(
        traverser_rows=np.concatenate([level.traverser_rows for level in levels]),
        gains=np.concatenate(gains[::-1]),
        opponent_rows=np.concatenate([level.opponent_rows for level in levels]),
        opponent_policies=np.concatenate([level.opponent_policies for level in levels]),
        value=value,
        num_states=num_states,
    )


def _level_at(
    game: WalkedGame, states: Any, traverser: int, policies: Policies, rng: np.random.Generator
) -> tuple[_Level, np.ndarray]:
    """Return a level with what both players play at its states, and the actions that the opponent draws, (k,)."""
    actors = game.actors(states)
    traverser_states, traverser_rows, legal, traverser_policies = _decisions_of(
        game, states, actors, traverser, policies
    )
    opponent_states, opponent_rows, _, opponent_policies = _decisions_of(game, states, actors, 1 - traverser, policies)
    place, action = np.nonzero(legal)
    drawn = _drawn_actions(opponent_policies, rng)
    level = _Level(
        states, np.flatnonzero(actors == TERMINAL), traverser_states, traverser_rows, traverser_policies,
        opponent_states, opponent_rows,
        opponent_policies, place, action,
    )  # fmt: skip
    return level, drawn


def _decisions_of(
    game: WalkedGame, states: Any, actors: np.ndarray, player: int, policies: Policies
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the states at which a player acts, with its rows, legal actions and policies there."""
    chosen = np.flatnonzero(actors == player)
    rows = game.rows(states, chosen)
    legal = game.legal(rows)
    return chosen, rows, legal, policies(player, rows, legal)


def _drawn_actions(policies: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an action from each policy, (rows,)."""
    cumulative = np.cumsum(policies, axis=1)
    # Rounding may leave the last sum below 1. Draws lie below it, so an action with probability 0 is never drawn.
    draws = rng.random(len(policies)) * cumulative[:, -1]
    drawn: np.ndarray = (draws[:, None] >= cumulative[:, :-1]).sum(axis=1)
    return drawn


def _values(level: _Level, values_below: np.ndarray, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the traverser's value of each of a level's states, and its gains (n, actions).

    Args:
        values_below: value of each child: first those of the traverser's states, then those of the opponent's.
        payoffs: (t,) the traverser's payoffs at terminal states.
    """
    num_traverser_children = len(level.place)
    values = np.zeros(len(level.terminal) + len(level.traverser_states) + len(level.opponent_states))
    values[level.terminal] = payoffs
    values[level.opponent_states] = values_below[num_traverser_children:]
    gains = np.zeros(level.traverser_policies.shape)
    gains[level.place, level.action] = values_below[:num_traverser_children]
    means = (level.traverser_policies * gains).sum(axis=1)
    gains[level.place, level.action] -= means[level.place]
    values[level.traverser_states] = means
    return values, gains
