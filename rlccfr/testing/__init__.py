"""Checks that every component must pass, for authors of components.

    from rlccfr.testing import check_update_rule
    check_update_rule("my_rule")

A failed check raises a :class:`ConformanceError`, which says in one line what is wrong. If a component can't be made
or run, the library's own error is raised instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlccfr.components import SHARED_CHANCE, Abstraction, Component, Sampler, UpdateRule
from rlccfr.errors import BudgetError, ComponentError, whole_number
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.registry import Registry, abstractions, samplers, update_rules
from rlccfr.solver import Solver
from rlccfr.testing.estimates import Estimates as Estimates
from rlccfr.testing.estimates import own_draws as own_draws
from rlccfr.testing.estimates import own_reach as own_reach
from rlccfr.testing.estimates import smallest_p as smallest_p
from rlccfr.testing.functions import ConformanceError as ConformanceError
from rlccfr.testing.functions import (
    check_policy_map,
    check_probabilities,
    check_regularise,
    check_reweight,
    check_symmetry,
)

GAMES = ("kuhn", "liars_dice(numdice=1,dice_sides=3)")
PUBLIC_CHANCE = "leduc(ranks=2,suits=2,raises=1)"
"""Game with a public card, for samplers that draw public outcomes and for buckets of private states."""
LEVEL = 1e-4
"""Level of each statistical test: the probability, over seeds, with which it rejects a correct sampler.

This holds where the means of batches are nearly normally distributed. Where rare walks have very large estimates, as
with little exploration, a test rejects correct samplers far more often; see :data:`MULTIPLES`.
"""
MULTIPLES = (1, 10, 100)
"""Multiples of the number of walks, tried in turn until a sampler passes the test; a biased one fails with all."""

LONG = 200_000
"""Number of exact iterations on Kuhn that must reach a hundredth of the uniform policy's exploitability.

CFR's bound falls as 1 / sqrt(T). The slowest sound rule of the catalog, Hedge, reaches half of that hundredth. A rule
that gets stuck, such as one that always mixes its policy with the uniform one, may look good after fewer iterations.
"""


class Convergence(NamedTuple):
    """Exploitability on Kuhn of a run with a component, and of plain CFR, after the same numbers of iterations.

    Attributes:
        iterations: numbers of iterations.
        reached: NashConv / 2 with the component after each of them.
        plain: NashConv / 2 of plain CFR after each of them.
        inside: whether ``reached`` is measured inside an abstraction: best responses, too, have one policy per bucket.
    """

    iterations: tuple[int, ...]
    reached: tuple[float, ...]
    plain: tuple[float, ...]
    inside: bool = False

    def __str__(self) -> str:
        reached = [f"{value:.3g} after {count:,}" for value, count in zip(self.reached, self.iterations, strict=True)]
        plain = [f"{value:.3g}" for value in self.plain]
        where = "inside the abstraction of Kuhn" if self.inside else "on Kuhn"
        return f"exploitability {where}: {' and '.join(reached)} iterations; plain CFR: {' and '.join(plain)}"


def check_update_rule(rule: str | Mapping[str, Any] | UpdateRule, *, converges: bool = True) -> Convergence | None:
    """Check the schedules, plain functions and runs of an update rule, and return how it converges.

    Args:
        rule: an id, ``{"id": ..., **hyperparameters}``, or the rule itself.
        converges: whether to check also that 200,000 exact iterations on Kuhn reach a hundredth of the uniform policy's
            exploitability, or for a rule with networks, that 400 iterations reach a half. With False, None is returned.

    Raises:
        ConformanceError: a check fails.

    Examples:
        >>> check_update_rule("cfr_plus").iterations
        (2000, 200000)
    """
    update_rule = update_rules.resolve(rule)
    _check_schedule(update_rule)
    check_reweight(update_rule)
    check_policy_map(update_rule)
    check_regularise(update_rule)
    check_symmetry(update_rule)
    for sampler in ("none",) if update_rule.exact_only else ("none", "external", "outcome"):
        _check_runs({"update_rule": update_rule, "sampler": sampler})
    convergence = _check_convergence({"update_rule": update_rule}) if converges else None
    _check_described(update_rules, update_rule)
    return convergence


def check_sampler(sampler: str | Mapping[str, Any] | Sampler, *, walks: int = 200_000) -> None:
    """Check that a sampler's estimates are unbiased, and that it runs with plain and with floored regrets.

    If a sampler does not divide its estimates by the probability of the traverser's draws, the means must be the
    regrets times this probability. Regrets from learned values are not checked. Estimates that seem biased are drawn
    again with 10 and with 100 times as many walks, since few walks may miss rare large estimates. A sampler fails if
    its estimates seem biased all three times.

    Args:
        sampler: an id, ``{"id": ..., **hyperparameters}``, or the sampler itself.
        walks: number of walks per game and player, at least 200; more walks find smaller errors.

    Raises:
        BudgetError: too few walks.
        ConformanceError: a check fails.
    """
    whole_number(walks, "walks", 200, BudgetError)
    resolved = samplers.resolve(sampler)
    check_probabilities(resolved)
    for rule in ("cfr", "cfr_plus"):
        _check_runs({"update_rule": rule, "sampler": resolved})
    if not resolved.exact:
        _check_unbiased(resolved, walks)
    _check_described(samplers, resolved)


def _check_unbiased(sampler: Sampler, walks: int) -> None:
    """Compare the means of a sampler's estimates with an exact pass, on each game and for each player.

    Raises:
        ConformanceError: estimates are not finite, or a mean differs with every number of walks.
    """
    for name in (*GAMES, PUBLIC_CHANCE) if sampler.chance in SHARED_CHANCE else GAMES:
        for player in (0, 1):
            _check_means(sampler, name, player, walks)


def _check_means(sampler: Sampler, name: str, player: int, walks: int) -> None:
    """Compare the means of one player's estimates with an exact pass, on one game.

    Raises:
        ConformanceError: estimates are not finite, or a mean differs with every number of walks.
    """
    tree = load_game(name)
    policy = _random_policy(tree)
    exact = Estimates.exact(tree, policy, player, policy, own_draws(sampler, tree, policy))
    suspects = list(Estimates._fields)
    if sampler.values in ("table", "network"):
        suspects.remove("regrets")
    # Only what has differed so far is drawn again, with more walks: a bias stays, and rare estimates cease to be rare.
    for seed, multiple in enumerate(MULTIPLES):
        batch_size = multiple * (walks // 200)
        estimates = Estimates.of(sampler, tree, policy, player, batches=200, walks=batch_size, seed=seed)
        p_values = {}
        for quantity in suspects:
            batches = getattr(estimates, quantity)
            if not np.isfinite(batches).all():
                raise ConformanceError(
                    f"{sampler.title} gives {quantity} that are not finite, for player {player} on {name}"
                )
            p_values[quantity], _ = smallest_p(batches, getattr(exact, quantity))
        suspects = [quantity for quantity in suspects if p_values[quantity] < LEVEL]
        if not suspects:
            return
    raise ConformanceError(
        f"{sampler.title} is biased: on {name} the mean of its {suspects[0]} for player {player} differs from the "
        f"exact pass, even over {200 * batch_size:,} walks (p = {p_values[suspects[0]]:.1g}); if the bias may be an "
        "effect of rare large estimates, check the sampler with more exploration, or in Python with more walks (walks=)"
    )


def check_abstraction(abstraction: str | Mapping[str, Any] | Abstraction) -> Convergence:
    """Check exact and sampled runs of an abstraction, and that CFR with it converges on Kuhn; return the convergence.

    Convergence is judged as for an update rule. With buckets, it is that of the exploitability inside the abstraction,
    since buckets may lose information. Fitted models approximate, and so do buckets against best responses in the game
    itself: there, 2,000 iterations (400 with models) need only reach a half of the uniform policy's exploitability. An
    abstraction with buckets may not support most games, so it is checked on Kuhn and on a small Leduc.

    Args:
        abstraction: an id, ``{"id": ..., **hyperparameters}``, or the abstraction itself.

    Raises:
        ConformanceError: a check fails.
    """
    resolved = abstractions.resolve(abstraction)
    games = GAMES if resolved.buckets is None else (GAMES[0], PUBLIC_CHANCE)
    # Best responses to policies of buckets need exact passes.
    for sampler in ("none",) if resolved.responds else ("none", "external"):
        _check_runs({"update_rule": "cfr", "sampler": sampler, "abstraction": resolved}, games)
    convergence = _check_convergence({"update_rule": "cfr", "abstraction": resolved})
    _check_described(abstractions, resolved)
    return convergence


def _check_convergence(components: Mapping[str, Any]) -> Convergence:
    """Check the exploitability that exact runs on Kuhn reach, and return it.

    It must be at most a hundredth of the uniform policy's after :data:`LONG` iterations. For components that only
    approximate, it must be at most a half after :func:`_fewer` iterations; see :func:`check_abstraction`.

    Args:
        components: arguments of a solver. The first argument that is a component, not an id, is checked.

    Raises:
        ConformanceError: the exploitability is larger.
    """
    component = next(value for value in components.values() if isinstance(value, Component))
    has_buckets = isinstance(component, Abstraction) and component.buckets is not None
    responds = isinstance(component, Abstraction) and component.responds
    if component.learns or responds:
        iterations: tuple[int, ...] = (_fewer(2000, components),)
        share = 1 / 2
        words = "a half"
    else:
        iterations = (2000, LONG)
        share = 1 / 100
        words = "a hundredth"
    # Plain CFR is run to be printed beside the component; it decides nothing.
    inside = has_buckets and not responds
    convergence = Convergence(
        iterations,
        _reached(components, iterations, inside=inside),
        _reached({"update_rule": "cfr"}, iterations),
        inside,
    )
    uniform = Policy.uniform(load_game("kuhn")).exploitability()
    if convergence.reached[-1] > share * uniform:
        raise ConformanceError(
            f"{component.title} does not converge: {convergence}; {iterations[-1]:,} iterations must reach {words} of "
            f"the uniform policy's {uniform:.3g}"
        )
    return convergence


def _reached(components: Mapping[str, Any], iterations: Sequence[int], *, inside: bool = False) -> tuple[float, ...]:
    """Return the exploitability of one run on Kuhn after each number of iterations.

    Args:
        components: arguments of a solver.
        iterations: the numbers of iterations.
        inside: whether to return the exploitability inside the abstraction, where it differs.
    """
    solver = Solver(load_game("kuhn"), **components)
    reached = []
    for begin, end in zip((0, *iterations), iterations, strict=False):
        result = solver.run(iterations=end - begin, curve=False)
        abstract = result.exploitability_abstract
        # If no infosets share a bucket, there is nothing inside.
        reached.append(abstract if inside and abstract is not None else result.exploitability)
    return tuple(reached)


def _fewer(iterations: int, components: Mapping[str, Any]) -> int:
    """Return ``iterations``, or a fifth if models are fitted: such iterations cost more and achieve more."""
    fits_models = any(isinstance(value, Component) and value.learns for value in components.values())
    return iterations // 5 if fits_models else iterations


def _random_policy(tree: GameTree) -> np.ndarray:
    """Return a random policy with some zeros, at which errors of estimates show first."""
    rng = np.random.default_rng(3)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.25)
    return Policy.from_sums(tree, weights).probabilities


def _check_schedule(rule: UpdateRule) -> None:
    """Check that a rule's schedule always gives the same numbers for the same iteration."""
    try:
        rows = rule.schedule(1, 2000)
    except ComponentError as error:
        raise ConformanceError(str(error)) from None
    # Row 0 is iteration 1, so rows 49 to 59 are iterations 50 to 60.
    if not np.array_equal(rule.schedule(50, 10), rows[49:60]):
        raise ConformanceError(
            f"a schedule of {rule.title} does not give each iteration one number: it changes between calls, or with "
            "the range of iterations asked for; make it a function of t alone"
        )


def _check_described(registry: Registry[Any], component: Component) -> None:
    """Check that a registered component has a description and a source."""
    if component.id not in registry:
        return
    entry = registry[component.id]
    if not (entry.description and entry.source.strip()):
        raise ConformanceError(f"{component.title} needs a docstring that says what it does, and a source")


def _check_runs(components: dict[str, Any], games: Sequence[str] = GAMES) -> None:
    """Check that tables stay finite, that policies are valid, and that stopping and continuing a run changes no number.

    The last check is left out for a controller: it plans for the budget of each call, so a run in several calls gives
    other numbers.
    """
    plans = any(isinstance(value, UpdateRule) and value.controller is not None for value in components.values())
    iterations = _fewer(40, components)
    for name in games:
        tree = load_game(name)
        at_once = Solver(tree, seed=5, **components)
        in_parts = Solver(tree, seed=5, **components)
        at_once.run(iterations=3 * iterations, curve=False)
        for _ in range(3):
            in_parts.run(iterations=iterations, curve=False)
        for solver in (at_once, in_parts):
            # Policy() raises for probabilities that are not finite or do not sum to 1.
            Policy(tree, solver.average_policy().probabilities)
            Policy(tree, solver.current_policy().probabilities)
            solver.result()
        same = np.array_equal(at_once.average_policy().probabilities, in_parts.average_policy().probabilities)
        if not (same or plans):
            raise ConformanceError(
                f"{at_once!r} gives other numbers when its run is stopped and continued: a component keeps something "
                "outside the tables"
            )
