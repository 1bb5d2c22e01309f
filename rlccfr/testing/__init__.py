"""Checks that every component must pass, for authors of components.

    from rlccfr.testing import check_update_rule
    check_update_rule("my_rule")

A failed check raises a :class:`ConformanceError`, which says in one line what is wrong. If a component can't be made
or run, the library's own error is raised instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlccfr.components import SHARED_CHANCE, Abstraction, Component, Sampler, UpdateRule
from rlccfr.errors import BudgetError, ComponentError, whole_number
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.registry import Registry, abstractions, samplers, update_rules
from rlccfr.solver import Solver
from rlccfr.testing.convergence import Convergence as Convergence
from rlccfr.testing.convergence import check_convergence, fewer
from rlccfr.testing.estimates import Estimates as Estimates
from rlccfr.testing.estimates import own_draws as own_draws
from rlccfr.testing.estimates import own_reach as own_reach
from rlccfr.testing.estimates import smallest_p as smallest_p
from rlccfr.testing.functions import ConformanceError as ConformanceError
from rlccfr.testing.functions import check_policy_map, check_probabilities, check_reweight, check_symmetry

GAMES = ("kuhn", "liars_dice(numdice=1,dice_sides=3)")
PUBLIC_CHANCE = "leduc(ranks=2,suits=2,raises=1)"
"""Game with a public card, for samplers that draw public outcomes and for buckets of private states."""
LEVEL = 1e-4
"""Level of each statistical test: the probability, over seeds, with which a correct sampler may fail it."""


def check_update_rule(rule: str | Mapping[str, Any] | UpdateRule, *, converges: bool = True) -> Convergence | None:
    """Check the schedules, plain functions and runs of an update rule, and return how it converges.

    Args:
        rule: an id, ``{"id": ..., **hyperparameters}``, or the rule itself.
        converges: whether to check also that 200,000 exact iterations on Kuhn reach a hundredth of the uniform policy's
            exploitability; with networks, that 400 reach a half.

    Raises:
        ConformanceError: a check fails.
    """
    made = update_rules.resolve(rule)
    _check_schedule(made)
    check_reweight(made)
    check_policy_map(made)
    check_symmetry(made)
    for sampler in ("none",) if made.exact_only else ("none", "external", "outcome"):
        _check_runs({"update_rule": made, "sampler": sampler})
    found = check_convergence({"update_rule": made}) if converges else None
    _check_described(update_rules, made)
    return found


def check_sampler(sampler: str | Mapping[str, Any] | Sampler, *, walks: int = 200_000) -> None:
    """Check that a sampler's estimates are unbiased, and that it runs with plain and with floored regrets.

    The estimates of a sampler without weights must have the regrets times its own reach as their means. Regrets from
    learned values are not checked.

    Args:
        sampler: an id, ``{"id": ..., **hyperparameters}``, or the sampler itself.
        walks: number of walks per game and player, at least 200; more walks find smaller errors.

    Raises:
        BudgetError: too few walks.
        ConformanceError: a check fails.
    """
    whole_number(walks, "walks", 200, BudgetError)
    made = samplers.resolve(sampler)
    check_probabilities(made)
    for rule in ("cfr", "cfr_plus"):
        _check_runs({"update_rule": rule, "sampler": made})
    if not made.exact:
        _check_unbiased(made, walks)
    _check_described(samplers, made)


def _check_unbiased(made: Sampler, walks: int) -> None:
    for name in (*GAMES, PUBLIC_CHANCE) if made.chance in SHARED_CHANCE else GAMES:
        tree = load_game(name)
        policy = _random_policy(tree)
        for player in (0, 1):
            found = Estimates.of(made, tree, policy, player, batches=200, walks=walks // 200)
            expected = Estimates.exact(tree, policy, player, policy, own_draws(made, tree, policy))
            for what, batches, mean in zip(Estimates._fields, found, expected, strict=True):
                if what == "regrets" and made.values in ("table", "network"):
                    continue
                p, _ = smallest_p(batches, mean)
                if p < LEVEL:
                    raise ConformanceError(
                        f"{made.title} is biased: on {name} the mean of its {what} for player {player} differs from "
                        f"the exact pass (p = {p:.1g})"
                    )


def check_abstraction(abstraction: str | Mapping[str, Any] | Abstraction) -> Convergence:
    """Check exact and sampled runs of an abstraction, and that CFR with it converges on Kuhn; return how it does.

    Convergence is judged by the game's own exploitability, as for an update rule. Fitted models and buckets
    approximate, so 2,000 iterations (400 with models) need only reach a half of the uniform policy's. Buckets may
    refuse most games, so they are checked on Kuhn and on a small Leduc.

    Args:
        abstraction: an id, ``{"id": ..., **hyperparameters}``, or the abstraction itself.

    Raises:
        ConformanceError: a check fails.
    """
    made = abstractions.resolve(abstraction)
    games = GAMES if made.buckets is None else (GAMES[0], PUBLIC_CHANCE)
    for sampler in ("none", "external"):
        _check_runs({"update_rule": "cfr", "sampler": sampler, "abstraction": made}, games)
    found = check_convergence({"update_rule": "cfr", "abstraction": made})
    _check_described(abstractions, made)
    return found


def _random_policy(tree: GameTree) -> np.ndarray:
    """Return a random policy with some zeros, where errors of estimates show first."""
    rng = np.random.default_rng(3)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.25)
    return Policy.from_sums(tree, weights).probabilities


def _check_schedule(rule: UpdateRule) -> None:
    try:
        rows = rule.schedule(1, 2000)
    except ComponentError as error:
        raise ConformanceError(str(error)) from None
    if not np.array_equal(rule.schedule(50, 10), rows[49:60]):
        raise ConformanceError(f"the schedules of {rule.title} depend on more than t")


def _check_described(registry: Registry[Any], component: Component) -> None:
    if component.id not in registry:
        return
    entry = registry[component.id]
    if not (entry.description and entry.source.strip()):
        raise ConformanceError(f"{component.title} needs a docstring that says what it does, and a source")


def _check_runs(parts: dict[str, Any], games: Sequence[str] = GAMES) -> None:
    """Check that tables stay finite, policies are valid, and a run stopped and continued gives the same numbers.

    A controller plans for the budget of each call, so the last does not apply to it.
    """
    plans = any(isinstance(part, UpdateRule) and part.controller is not None for part in parts.values())
    for name in games:
        tree = load_game(name)
        whole, cut = (Solver(tree, seed=5, **parts) for _ in range(2))
        part = fewer(40, parts)
        whole.run(iterations=3 * part, curve=False)
        for _ in range(3):
            cut.run(iterations=part, curve=False)
        for solver in (whole, cut):
            Policy(tree, solver.average_policy().probabilities)
            Policy(tree, solver.current_policy().probabilities)
            solver.result()
        same = np.array_equal(whole.average_policy().probabilities, cut.average_policy().probabilities)
        if not (same or plans):
            raise ConformanceError(
                f"{whole!r} gives other numbers when stopped and continued: something is kept outside the tables"
            )
