"""Walks of one path each that advance together: outcome sampling, with or without a network's values of histories.

- *Outcome sampling* (Lanctot et al., NeurIPS 2009, section 3.1) estimates regrets from the payoff at the end.
- *DREAM* (Steinberger, Lerer and Brown, 2020) corrects values q(h, a) of the actions at each history h on the path by
  what the walk finds below (Schmid et al., AAAI 2019, equations 9 and 10).
- *ESCHER* (McAleer et al., ICLR 2023) takes regrets from q alone, and draws the traverser's actions uniformly.

Values are player 0's. They are learned from walks of their own, by :func:`value_walks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rlccfr.components import Sampler
from rlccfr.engine.walked.walk import Policies, WalkData, drawn_actions
from rlccfr.games.walked.state_walks import StateWalks
from rlccfr.games.walked.walked_game import TERMINAL
from rlccfr.networks.row_policies import uniform_policies

Values = Callable[[np.ndarray], np.ndarray]
"""Function that takes rows, one for each of some histories, and returns player 0's values of the actions there,
(rows, actions)."""


class ValueData(NamedTuple):
    """What walks have found about the values of histories.

    Attributes:
        rows: (n,) histories, with the action that the walk took there.
        targets: (n,) an estimate of player 0's value after this action.
        num_states: number of histories met.
    """

    rows: np.ndarray
    targets: np.ndarray
    num_states: int


class _PathLevel(NamedTuple):
    """The histories that walks have reached after the same number of moves.

    Each decision has one child in the next level; the children are in the order of the decisions.
    """

    states: Any
    terminal: np.ndarray  # (t,) indices of terminal states
    decisions: np.ndarray  # (d,) indices of the other states, those of player 0 first
    players: np.ndarray  # (d,) the player who acts
    rows: np.ndarray  # (d,) what this player knows
    legal: np.ndarray  # (d, actions)
    played: np.ndarray  # (d, actions) this player's policies
    histories: np.ndarray  # (d,) rows of the histories, with the actions taken; (0,) without a function of values
    values: np.ndarray  # (d, actions) player 0's values of the actions; 0 without a function of values
    drawn: np.ndarray  # (d,) the action that is taken
    probability: np.ndarray  # (d,) its probability


def path_walks(
    game: StateWalks,
    traverser: int,
    policies: Policies,
    count: int,
    rng: np.random.Generator,
    sampler: Sampler,
    values: Values | None,
) -> WalkData:
    """Run walks of one path each, and estimate the traverser's regrets from them.

    Args:
        game: the game.
        traverser: the player whose regrets are estimated.
        policies: both players' policies.
        count: number of walks.
        rng: generator of all draws.
        sampler: says how much the traverser explores, whether values of histories replace payoffs, and whether
            regrets have importance weights. The opponent's data, from which its average policy is learned, always have
            them, except where the traverser draws uniformly. There, a history has the same weight in every walk, so
            the average policy is the same without weights.
        values: values of histories; None to use payoffs alone.
    """
    explorations = (sampler.exploration, 0.0) if traverser == 0 else (0.0, sampler.exploration)
    levels = list(_levels(game, policies, count, rng, explorations, values))
    weights = np.ones(count)
    weight_of_level = []
    # Chance and the opponent play as in the game, so only the traverser's own draws need a weight.
    for level in levels:
        of_decisions = weights[level.decisions]
        weight_of_level.append(of_decisions)
        weights = np.where(level.players == traverser, of_decisions / level.probability, of_decisions)
    sign = 1.0 if traverser == 0 else -1.0
    below = np.zeros(0)
    gains = []
    for level in reversed(levels):
        estimates = level.values.copy()
        places = np.arange(len(level.drawn))
        if sampler.values is None:
            # What the walk finds beyond the value of the action taken is divided by the action's probability.
            correction = (below - level.values[places, level.drawn]) / level.probability
            estimates[places, level.drawn] += correction
        means = (level.played * estimates).sum(axis=1)
        gains.append(np.where(level.legal, sign * (estimates - means[:, None]), 0.0))
        below = _values_of_states(game, level, means)
    gains.reverse()
    is_traversers = [level.players == traverser for level in levels]
    is_opponents = [~mask for mask in is_traversers]
    no_weights = [np.ones(len(level.drawn)) for level in levels]
    weighs_opponent = sampler.weighted or sampler.exploration < 1.0
    return WalkData(
        traverser_rows=_joined([level.rows for level in levels], is_traversers),
        gains=_joined(gains, is_traversers),
        opponent_rows=_joined([level.rows for level in levels], is_opponents),
        opponent_policies=_joined([level.played for level in levels], is_opponents),
        value=sign * below,
        num_states=sum(len(level.terminal) + len(level.decisions) for level in levels),
        traverser_weights=_joined(weight_of_level if sampler.weighted else no_weights, is_traversers),
        opponent_weights=_joined(weight_of_level if weighs_opponent else no_weights, is_opponents),
    )


def value_walks(
    game: StateWalks,
    policies: Policies,
    count: int,
    rng: np.random.Generator,
    exploration: float,
    values: Values | None,
) -> ValueData:
    """Run walks of one path each, and return targets for the values of actions at the histories on the paths.

    The target of an action that ends the game is the payoff. Otherwise, it is the policy's mean of the values of the
    next history's actions, with one change: the action that the walk takes there has its own target in place of its
    value. This is tree backup with lambda = 1 (Precup, Sutton and Singh, ICML 2000), which is sound whatever
    distribution actions are drawn from. Without values, the targets are the payoffs at the end of the walks. Their mean
    is the value under the distribution that actions are drawn from, exploration included.

    Args:
        policies: both players' policies.
        count: number of walks.
        rng: generator of all draws.
        exploration: share of the uniform policy in the distribution from which both players' actions are drawn.
        values: the values so far; None if there are none.
    """
    # Levels need a function of values to read the histories' rows, even where no values are known.
    known_values = values or (lambda rows: np.zeros((len(rows), game.num_actions)))
    levels = list(_levels(game, policies, count, rng, (exploration, exploration), known_values))
    below = np.zeros(0)
    targets = []
    for level in reversed(levels):
        targets.append(below)
        means = below
        if values is not None:
            places = np.arange(len(level.drawn))
            correction = below - level.values[places, level.drawn]
            means = (level.played * level.values).sum(axis=1) + level.played[places, level.drawn] * correction
        below = _values_of_states(game, level, means)
    return ValueData(
        rows=np.concatenate([level.histories for level in levels]),
        targets=np.concatenate(targets[::-1]),
        num_states=sum(len(level.terminal) + len(level.decisions) for level in levels),
    )


def _levels(
    game: StateWalks,
    policies: Policies,
    count: int,
    rng: np.random.Generator,
    explorations: tuple[float, float],
    values: Values | None,
) -> Iterator[_PathLevel]:
    """Yield the levels of some walks, from the beginning to the end of the longest one.

    Args:
        explorations: for each player, the share of the uniform policy in the distribution of its draws.
    """
    states = game.begin(count, rng)
    while len(states.actors):
        level = _path_level(game, states, policies, rng, explorations, values)
        yield level
        states = game.children(states, level.decisions, level.drawn, rng)


def _path_level(
    game: StateWalks,
    states: Any,
    policies: Policies,
    rng: np.random.Generator,
    explorations: tuple[float, float],
    values: Values | None,
) -> _PathLevel:
    """Return a level: its states, both players' policies there, and the actions that walks take."""
    actors = game.actors(states)
    parts = []
    for player, exploration in enumerate(explorations):
        chosen = np.flatnonzero(actors == player)
        rows = game.rows(states, chosen)
        legal = game.legal(rows)
        played = policies(player, rows, legal)
        # Only draws explore; ``played`` stays the policy.
        sampled = (1.0 - exploration) * played + exploration * uniform_policies(legal) if exploration else played
        parts.append((chosen, rows, legal, played, sampled))
    decisions, rows, legal, played, sampled = (np.concatenate(both) for both in zip(*parts, strict=True))
    drawn = drawn_actions(sampled, rng)
    histories = np.zeros(0, game.history_type)
    predicted = np.zeros(played.shape)
    if values is not None:  # reading both players' tensors takes a while
        histories = game.histories(states, decisions, drawn)
        predicted = values(histories)
    return _PathLevel(
        states=states,
        terminal=np.flatnonzero(actors == TERMINAL),
        decisions=decisions,
        players=actors[decisions],
        rows=rows,
        legal=legal,
        played=played,
        histories=histories,
        # The model has an output for each action of the game, illegal ones included.
        values=np.where(legal, predicted, 0.0),
        drawn=drawn,
        probability=sampled[np.arange(len(drawn)), drawn],
    )


def _values_of_states(game: StateWalks, level: _PathLevel, of_decisions: np.ndarray) -> np.ndarray:
    """Return player 0's value of each of a level's states: the payoffs of terminal ones, ``of_decisions`` of others."""
    values = np.zeros(len(level.terminal) + len(level.decisions))
    values[level.terminal] = game.payoffs(level.states, level.terminal)
    values[level.decisions] = of_decisions
    return values


def _joined(arrays: list[np.ndarray], masks: list[np.ndarray]) -> np.ndarray:
    """Return the entries that each mask selects from its array, one array after another."""
    return np.concatenate([array[mask] for array, mask in zip(arrays, masks, strict=True)])
