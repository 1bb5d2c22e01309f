"""External sampling by walks that advance together.

Sources: Lanctot et al., NeurIPS 2009; Brown et al., ICML 2019, algorithms 1 and 2. With robust sampling (Li et al.,
ICLR 2020, section 4), a walk takes only some of the traverser's actions.

The walks of a batch move from level to level of the game together. On the way down, one call for each player gives its
policies at all decisions of a level. On the way up, each level's values follow from those of the level below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rlccfr.games.walked.walked_game import TERMINAL, WalkedGame

Policies = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""Function ``(player, rows, legal)`` that returns the player's policies at some decisions, (rows, actions).

A row is what the player knows at a decision; ``legal``, (rows, actions), says which actions are legal there.
"""


GamePolicies = Callable[[int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Function ``(player, rows, legal, games)`` that returns the player's policies at some decisions, (rows, actions).

``games``, (rows,), has the number of the game in which each decision is met; a player may follow a different policy in
each game. For the other arguments, see :data:`Policies`.
"""


class WalkData(NamedTuple):
    """Data that walks for one player, the traverser, have gathered.

    Attributes:
        traverser_rows: (n,) rows of the traverser's decisions, once for each visit.
        gains: (n, actions) at each of these, the value of each action less the policy's value; 0 for illegal actions.
        opponent_rows: (k,) rows of the opponent's decisions, once for each visit.
        opponent_policies: (k, actions) the policy that the opponent played there.
        value: (walks,) each walk's estimate of the traverser's expected payoff.
        num_states: number of histories met.
        traverser_weights: (n,) weights of the traverser's data.
        opponent_weights: (k,) weights of the opponent's data.
    """

    traverser_rows: np.ndarray
    gains: np.ndarray
    opponent_rows: np.ndarray
    opponent_policies: np.ndarray
    value: np.ndarray
    num_states: int
    traverser_weights: np.ndarray
    opponent_weights: np.ndarray


class _Level(NamedTuple):
    """The histories that walks have reached after the same number of moves, and what was done there."""

    states: Any
    terminal: np.ndarray  # (t,) indices of terminal states
    traverser_states: np.ndarray  # (n,) indices of states at which the traverser acts
    traverser_rows: np.ndarray  # (n,) what the traverser knows there
    traverser_policies: np.ndarray  # (n, actions) the traverser's policies there
    legal: np.ndarray  # (n, actions) which of the traverser's actions are legal
    factor: np.ndarray  # (n,) number of legal actions, divided by the number of those that the walk takes
    opponent_states: np.ndarray  # (k,) indices of states at which the opponent acts
    opponent_rows: np.ndarray  # (k,)
    opponent_policies: np.ndarray  # (k, actions)
    place: np.ndarray  # (c,) for each child of the traverser's states, the index of its parent in ``traverser_states``
    action: np.ndarray  # (c,) the action that leads to it


def sampled_walks(
    game: WalkedGame, traverser: int, policies: Policies, count: int, rng: np.random.Generator, subset_size: int = 0
) -> WalkData:
    """Walk through a game: follow the traverser's actions, draw those of the opponent and of chance, and return data.

    Args:
        traverser: the player whose regrets are estimated.
        policies: both players' policies.
        count: number of walks.
        rng: generator of all draws.
        subset_size: number of the traverser's actions that are taken at each decision, drawn uniformly; 0 for all.
            Where fewer actions are legal, all are taken. With a subset, a walk's values are estimates, and the gain of
            an action that is not taken is estimated as if its value were 0.
    """
    levels: list[_Level] = []
    states = game.begin(count, rng)
    num_states = 0
    while True:
        level, drawn = _level_at(game, states, traverser, policies, rng, subset_size)
        levels.append(level)
        num_states += len(level.terminal) + len(level.traverser_states) + len(level.opponent_states)
        if len(level.place) + len(drawn) == 0:
            break
        # The traverser's children come first, then those of the opponent's states, in the order of their parents.
        parents = np.concatenate([level.traverser_states[level.place], level.opponent_states])
        states = game.children(states, parents, np.concatenate([level.action, drawn]), rng)
    value = np.zeros(0)
    gains: list[np.ndarray] = []
    sign = 1.0 if traverser == 0 else -1.0
    for level in reversed(levels):
        value, level_gains = _values(level, value, sign * game.payoffs(level.states, level.terminal))
        gains.append(level_gains)
    traverser_rows = np.concatenate([level.traverser_rows for level in levels])
    opponent_rows = np.concatenate([level.opponent_rows for level in levels])
    # Subsets are drawn uniformly in every iteration, so the data of all iterations count alike without weights.
    return WalkData(
        traverser_rows=traverser_rows,
        gains=np.concatenate(gains[::-1]),
        opponent_rows=opponent_rows,
        opponent_policies=np.concatenate([level.opponent_policies for level in levels]),
        value=value,
        num_states=num_states,
        traverser_weights=np.ones(len(traverser_rows)),
        opponent_weights=np.ones(len(opponent_rows)),
    )


def _level_at(
    game: WalkedGame, states: Any, traverser: int, policies: Policies, rng: np.random.Generator, subset_size: int
) -> tuple[_Level, np.ndarray]:
    """Return a level with both players' policies at its states, and the actions that the opponent draws, (k,)."""
    actors = game.actors(states)
    traverser_states, traverser_rows, legal, traverser_policies = _decisions_of(
        game, states, actors, traverser, policies
    )
    opponent_states, opponent_rows, _, opponent_policies = _decisions_of(game, states, actors, 1 - traverser, policies)
    taken = _drawn_subsets(legal, subset_size, rng) if subset_size else legal
    factor = legal.sum(axis=1) / np.maximum(taken.sum(axis=1), 1)
    place, action = np.nonzero(taken)
    drawn = drawn_actions(opponent_policies, rng)
    level = _Level(
        states, np.flatnonzero(actors == TERMINAL), traverser_states, traverser_rows, traverser_policies, legal, factor,
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


def _drawn_subsets(legal: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw ``size`` legal actions of each row, all subsets with equal probability; return a mask, (rows, actions)."""
    keys = np.where(legal, rng.random(legal.shape), 2.0)  # illegal actions come last
    taken = np.zeros(legal.shape, bool)
    np.put_along_axis(taken, np.argsort(keys, axis=1)[:, :size], True, axis=1)
    taken &= legal
    return taken


def drawn_actions(policies: np.ndarray, rng: np.random.Generator) -> np.ndarray:
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
    # An action is taken with probability 1 / factor, so its value counts ``factor`` times; others count as 0.
    estimates = np.zeros(level.traverser_policies.shape)
    estimates[level.place, level.action] = level.factor[level.place] * values_below[:num_traverser_children]
    means = (level.traverser_policies * estimates).sum(axis=1)
    gains = np.where(level.legal, estimates - means[:, None], 0.0)
    values[level.traverser_states] = means
    return values, gains


def played_games(game: WalkedGame, policies: GamePolicies, count: int, rng: np.random.Generator) -> np.ndarray:
    """Play games together, move by move; return player 0's payoff in each, (count,).

    Args:
        policies: both players' policies.
        count: number of games.
        rng: generator of all draws.
    """
    payoffs = np.zeros(count)
    states = game.begin(count, rng)
    running = np.arange(count)  # the number of the game that each state belongs to
    while len(running):
        actors = game.actors(states)
        ended = np.flatnonzero(actors == TERMINAL)
        payoffs[running[ended]] = game.payoffs(states, ended)
        chosen = []
        drawn = []
        for player in (0, 1):
            places = np.flatnonzero(actors == player)
            rows = game.rows(states, places)
            played = policies(player, rows, game.legal(rows), running[places])
            chosen.append(places)
            drawn.append(drawn_actions(played, rng))
        parents = np.concatenate(chosen)
        states = game.children(states, parents, np.concatenate(drawn), rng)
        # Games that have ended have no children here, and drop out.
        running = running[parents]
    return payoffs
