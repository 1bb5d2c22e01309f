"""The features of games and components in an observation: numbers in [-1, 1], computed from their fields.

Features, rather than indices, describe components, so that a trained selector can still read a catalog that has grown.
Fields that components were given after the first teams had been trained have no features: of update rules,
``momentum``, ``regularise``, ``simultaneous``, ``output`` and ``controller``; of samplers, ``explores``, ``baseline``,
``values`` and ``weighted``. So picks that differ only in these look alike to the agents that pick after them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from rlccfr.components import Abstraction, Component, Sampler, Schedule, UpdateRule
from rlccfr.game import Game
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public import records
from rlccfr.games.public.view import PublicGame
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.registry import REGISTRIES

REFERENCE_ITERATIONS = (10, 1000)
"""The early and the late iteration at which schedules are evaluated."""


class GameFeatures(NamedTuple):
    """The features of a game, each scaled to [0, 1].

    Shipped teams and choosers were trained on exactly these numbers: if a field is added, teams and choosers must be
    trained again.

    In a public-tree game, ``histories`` counts private states at public nodes, ``chance_share`` and
    ``terminal_share`` are shares of public nodes, and ``leaf_density`` is 1.
    """

    histories: float  # log10(1 + n) / 8, at most 1; the next five likewise
    infosets_0: float
    infosets_1: float
    sequences_0: float
    sequences_1: float
    utility_range: float
    mean_actions: float  # mean number of actions per infoset, n / (n + 4)
    max_actions: float  # largest number of children of a history, chance nodes included, n / (n + 4)
    depth: float  # n / (n + 10)
    chance_share: float  # chance nodes, as a share of the histories that are not terminal
    terminal_share: float  # terminal histories, as a share of all histories
    leaf_density: float  # 1 + log10(share of the sequence pairs that have a payoff) / 8, at least 0

    @classmethod
    def of(cls, game: Game) -> GameFeatures:
        """Return the features of a game.

        Examples:
            >>> import rlccfr
            >>> features = GameFeatures.of(rlccfr.load_game("kuhn"))
            >>> round(features.depth, 3), round(features.max_actions, 3)  # 5 moves with the deals; 3 cards to deal
            (0.333, 0.429)
        """
        features: GameFeatures = game.form.part("features")(game)
        return features


@lru_cache(maxsize=256)
def features_of_histories(tree: GameTree) -> GameFeatures:
    """Return the features of a compiled game."""
    actor = tree.histories["actor"]
    num_inner = int((actor != TERMINAL).sum())
    actions = np.diff(tree.view.first_sequence)  # number of actions of each infoset
    infosets = [_length(tree.infosets_of(player)) for player in (0, 1)]
    sequences = [_length(tree.sequences_of(player)) for player in (0, 1)]
    # Each player also has the empty sequence.
    num_pairs = max(1, (sequences[0] + 1) * (sequences[1] + 1))
    num_leaf_pairs = max(tree.num_leaf_pairs, 1)
    return GameFeatures(
        histories=logarithm(tree.num_histories, 8),
        infosets_0=logarithm(infosets[0], 8),
        infosets_1=logarithm(infosets[1], 8),
        sequences_0=logarithm(sequences[0], 8),
        sequences_1=logarithm(sequences[1], 8),
        utility_range=logarithm(tree.utility_range, 8),
        mean_actions=saturating(float(actions.mean()) if len(actions) else 0.0, 4),
        max_actions=saturating(tree.max_actions, 4),
        depth=saturating(tree.depth, 10),
        chance_share=int((actor == CHANCE).sum()) / max(num_inner, 1),
        terminal_share=1 - num_inner / tree.num_histories,
        # The share of pairs of sequences that have a payoff, on a logarithmic scale: 0 at 1e-8, 1 if all have one.
        leaf_density=min(1.0, max(0.0, 1 + math.log10(num_leaf_pairs / num_pairs) / 8)),
    )


@lru_cache(maxsize=256)
def features_of_public_tree(game: PublicGame) -> GameFeatures:
    """Return the features of a public-tree game."""
    kinds = game.view.nodes["kind"]
    actor = kinds[game.decisions]  # a decision's kind is the player who moves
    num_inner = int((kinds <= records.CHANCE).sum())
    infosets = [int(game.rows[actor == player].sum()) for player in (0, 1)]
    sequences = [int((game.rows * game.actions)[actor == player].sum()) for player in (0, 1)]
    return GameFeatures(
        histories=logarithm(game.pass_size, 8),
        infosets_0=logarithm(infosets[0], 8),
        infosets_1=logarithm(infosets[1], 8),
        sequences_0=logarithm(sequences[0], 8),
        sequences_1=logarithm(sequences[1], 8),
        utility_range=logarithm(game.utility_range, 8),
        mean_actions=saturating(sum(sequences) / sum(infosets), 4),
        max_actions=saturating(int(game.view.nodes["num_children"].max()), 4),
        depth=saturating(game.depth, 10),
        chance_share=int((kinds == records.CHANCE).sum()) / max(num_inner, 1),
        terminal_share=1 - num_inner / game.num_nodes,
        leaf_density=1.0,
    )


RULE_FEATURES = (
    "known", "floor", "floor_is_finite",
    "positive_discount_early", "positive_discount_late", "negative_discount_early", "negative_discount_late",
    "averaging_early", "averaging_late", "prediction_early", "prediction_late",
    "parameter_0", "parameter_1", "reweights", "reweight_code", "maps_policy", "policy_map_code",
    "uses_mass", "tables", "weighs_average", "argmax_fallback", "exact_only", "network",
)  # fmt: skip
SAMPLER_FEATURES = (
    "known", "exact", "samples_chance", "samples_opponent", "samples_traverser", "samples_subset",
    "exploration", "probes", "baseline_rate", "inclusion_code", "subset_size", "mixture_code", "one_draw",
    "parameter_0", "parameter_1", "parameter_2", "network",
)  # fmt: skip
ABSTRACTION_FEATURES = ("known", "best_response", "network")

_DRAWN_OF_CHANCE = {"all": 0.0, "public": 0.25, "own": 0.5, "opponent": 0.75, "one": 1.0}
"""Value of the feature ``samples_chance`` for each ``chance`` of a sampler: the more is drawn, the larger the value."""

COMPONENT_FEATURES = (RULE_FEATURES, SAMPLER_FEATURES, ABSTRACTION_FEATURES)
"""Names of the features of update rules, samplers and abstractions."""


def component_features(axis: int, component: str | Component) -> np.ndarray:
    """Return the features of a component: float32, shape (number of features,), named by :data:`COMPONENT_FEATURES`.

    If an id's component can't be made (a missing extra, a broken plugin), ``known`` is 1 and all other features are 0.

    Args:
        axis: 0, 1, 2 for update rule, sampler, abstraction.
        component: an id, or the component itself.

    Raises:
        ComponentError: an unknown id.
    """
    if isinstance(component, str):
        return _by_id(axis, component, REGISTRIES[axis].revision).copy()
    return _features(axis, component)


@cache
def _by_id(axis: int, id: str, revision: int) -> np.ndarray:
    """Return the features of the component with an id; ``revision`` is that of its registry."""
    entry = REGISTRIES[axis][id]
    try:
        return _features(axis, entry.make())
    except Exception:  # a broken component fails when it is measured, not when it is described
        features = np.zeros(len(COMPONENT_FEATURES[axis]), np.float32)
        features[0] = 1.0
        return features


def _features(axis: int, component: Any) -> np.ndarray:
    """Return the features of a component: ``known``, those of its axis, and whether it has a network."""
    describe: Callable[[Any], list[float]] = (_rule, _sampler, _abstraction)[axis]
    values = np.array([1.0, *describe(component), component.learns], np.float64)
    return np.clip(np.nan_to_num(values), -1.0, 1.0).astype(np.float32)


def _rule(rule: UpdateRule) -> list[float]:
    """Return the features of an update rule: all of :data:`RULE_FEATURES` except for the first and the last."""
    floor_is_finite = math.isfinite(rule.floor)
    return [
        saturating(rule.floor, 1) if floor_is_finite else 0.0,
        floor_is_finite,
        *_exponents(rule.positive_discount),
        *_exponents(rule.negative_discount),
        *_exponents(rule.average_decay),
        *(saturating(value, 1) for value in _values(rule.prediction)),
        # Of the first two parameters, the value at the late reference iteration; 0 where there are fewer.
        *_padded([saturating(_values(schedule)[-1], 1) for schedule in rule.parameters], 2),
        rule.reweight is not None,
        _code(rule.reweight),
        rule.policy_map is not None,
        _code(rule.policy_map),
        rule.uses_mass,
        saturating(len(rule.arrays), 1),
        rule.average_weight is not None,
        rule.fallback == "argmax",
        rule.exact_only,
    ]


def _sampler(sampler: Sampler) -> list[float]:
    """Return the features of a sampler: all of :data:`SAMPLER_FEATURES` except for the first and the last."""
    if sampler.exact:  # the other fields are unused
        return [1.0] + [0.0] * (len(SAMPLER_FEATURES) - 3)
    return [
        0.0,
        _DRAWN_OF_CHANCE[sampler.chance] * (1.0 - sampler.internal_share),
        (sampler.opponent == "one") * (1.0 - sampler.internal_share),
        sampler.internal_share if sampler.internal_share else sampler.traverser == "one",
        sampler.traverser == "subset",
        sampler.exploration,
        sampler.probe,
        sampler.baseline_rate,
        _code(sampler.inclusion),
        saturating(sampler.subset_size, 1),
        _code(sampler.mixture),
        sampler.one_draw,
        # As logarithms, because a parameter may be a count or a probability.
        *_padded([logarithm(1e4 * value, 12) for value in sampler.schedule(REFERENCE_ITERATIONS[1], 1)[0]], 3),
    ]


def _abstraction(abstraction: Abstraction) -> list[float]:
    """Return the feature ``best_response``: 0 or 1; with buckets, a number in between that comes from a hash."""
    if abstraction.buckets is None:
        return [abstraction.best_response]
    code = _code(abstraction.buckets)
    if abstraction.id:  # a factory may make many functions with the same name
        code = _fraction(json.dumps(abstraction.spec, sort_keys=True))
    return [0.98 * (abstraction.best_response + code) / 2]


def _values(schedule: Schedule) -> list[float]:
    """Return the schedule's values at the reference iterations."""
    values = np.broadcast_to(np.asarray(schedule(np.array(REFERENCE_ITERATIONS, np.float64)), np.float64), (2,))
    return [float(value) for value in values]


def _exponents(discount: Schedule) -> list[float]:
    """Return e / (1 + |e|) at each reference iteration t, where e is such that the discount at t is ((t-1)/t)^e."""
    exponents = []
    for t, value in zip(REFERENCE_ITERATIONS, _values(discount), strict=True):
        exponent = math.log(value) / math.log((t - 1) / t) if value > 0 else math.inf
        exponents.append(saturating(exponent, 1))
    return exponents


def _code(function: Callable[..., Any] | None) -> float:
    """Return a hash of a function's name as a number in (0, 1], the same in every process; 0 without a function."""
    if function is None:
        return 0.0
    return _fraction(getattr(function, "__qualname__", type(function).__name__))


def _fraction(name: str) -> float:
    """Return a hash of a name as a number in (0, 1], the same in every process."""
    return (1 + hashlib.sha256(name.encode()).digest()[0]) / 256


def _padded(values: list[float], length: int) -> list[float]:
    """Return the first ``length`` values, with zeros in place of missing ones."""
    return (values + [0.0] * length)[:length]


def _length(indices: slice) -> int:
    return int(indices.stop) - int(indices.start)


def saturating(x: float, half: float) -> float:
    """Return x / (|x| + half), which lies in [-1, 1] and is 1/2 at x = ``half``."""
    return math.copysign(1.0, x) if math.isinf(x) else x / (abs(x) + half)


def logarithm(x: float, decades: float) -> float:
    """Return log10(1 + x) / decades, at most 1; 0 if x is not positive."""
    return min(1.0, math.log10(1 + max(x, 0.0)) / decades)
