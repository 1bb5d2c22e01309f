"""Every registered component passes the public checks, and the checks find faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlccfr import Solver, load_game
from rlccfr.components import Abstraction, Sampler, UpdateRule, always
from rlccfr.engine import chance_draws
from rlccfr.errors import BudgetError
from rlccfr.registry import abstractions, samplers, update_rules
from rlccfr.testing import (
    LEVEL,
    ConformanceError,
    Estimates,
    check_abstraction,
    check_sampler,
    check_update_rule,
    smallest_p,
)

# One rule with networks stands for the others, which take seconds each, where tests must be short.
RULES = [
    pytest.param(entry.id, marks=pytest.mark.slow)
    if entry.id.startswith("deep_") and entry.id != "deep_cfr"
    else entry.id
    for entry in update_rules
]


@pytest.mark.slow
@pytest.mark.parametrize("id", RULES)
def test_update_rules_conform(id):
    check_update_rule(id)


def test_too_few_walks_for_a_test_are_refused():
    with pytest.raises(BudgetError, match="walks must be an integer of at least 200, not 199"):
        check_sampler("external", walks=199)


@pytest.mark.parametrize("mode", ["rlccfr", "published"])
def test_ecfr_with_the_weight_of_the_same_iteration_conforms(mode):
    check_update_rule({"id": "ecfr", "mode": mode}, converges=False)


@pytest.mark.parametrize(
    "id",
    [pytest.param(one.id, marks=[pytest.mark.slow] * one.id.endswith("public_chance")) for one in samplers],
)
def test_samplers_conform(id):
    check_sampler(id)


@pytest.mark.slow
@pytest.mark.parametrize("id", [entry.id for entry in abstractions])
def test_abstractions_conform(id):
    check_abstraction(id)


def own_moves(game):
    """Return a bucket for each infoset, as if players saw nothing but their own actions."""
    buckets = []
    numbers = {}  # of the buckets, by what the player has seen
    moves = {}  # by sequence: the bucket in which its action was taken, and the action
    for infoset in range(game.num_infosets):
        sequences = game.infoset_sequences(infoset)
        actions = game.sequence_action[sequences].tolist()
        player = int(infoset >= game.view.infoset_begin[1])
        known = (player, moves.get(int(game.view.parent[infoset])), *actions)
        buckets.append(numbers.setdefault(known, len(numbers)))
        moves |= {sequences.start + k: (buckets[-1], action) for k, action in enumerate(actions)}
    return np.array(buckets)


def test_buckets_are_judged_inside_the_abstraction():
    convergence = check_abstraction("equity(respond=True)")
    assert not convergence.inside
    convergence = check_abstraction(Abstraction(buckets=own_moves))
    assert convergence.inside
    assert convergence.reached[-1] < 1e-4
    solver = Solver(load_game("kuhn"), abstraction=Abstraction(buckets=own_moves))
    assert solver.run(iterations=1000).exploitability > 0.3
    assert str(convergence).startswith("exploitability inside the abstraction of Kuhn: ")


def not_a_policy(row, state, parameters, utility_range):
    for a in range(len(row)):
        row[a] = max(row[a], 0.0)


def never_the_last(policy, count, parameters, probability):
    for a in range(len(probability)):
        probability[a] = 1.0
    probability[len(probability) - 1] = 0.0


def hardly_the_last(policy, count, parameters, probability):
    for a in range(len(probability)):
        probability[a] = 1.0
    probability[len(probability) - 1] = 1e-12


def beyond_the_arrays(instant_regret, mass, state, parameters, utility_range):
    state[0, 0] += instant_regret[0]


def not_numbers(instant_regret, mass, state, parameters, utility_range):
    instant_regret[:] /= mass - mass


def always_exploring(row, state, parameters, utility_range):
    total = 0.0
    for a in range(len(row)):
        row[a] = max(row[a], 0.0)
        total += row[a]
    for a in range(len(row)):
        share = row[a] / total if total > 0.0 else 1.0 / len(row)
        row[a] = 0.8 * share + 0.2 / len(row)


def the_first_of_the_best(row, state, parameters, utility_range):
    best = 0
    for a in range(1, len(row)):
        if row[a] > row[best]:
            best = a
    for a in range(len(row)):
        row[a] = 1.0 if a == best else 0.0


def the_first_more(instant_regret, mass, state, parameters, utility_range):
    instant_regret[0] *= 1 + parameters[0]


def no_number(values, policy, reach, state, parameters, utility_range):
    return reach[0] * np.nan


def the_first_value(values, policy, reach, state, parameters, utility_range):
    return values[0]


def more_than_all(policy, count, visits, parameters):
    return 1.7


def drifting():
    """Return a schedule that changes with the number of its calls."""
    calls = []

    def schedule(t):
        calls.append(1)
        return t * 0 + 1 / len(calls)

    return schedule


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (UpdateRule(positive_discount=lambda t: np.log(t - 1)), "at iteration 1, not a finite number"),
        (UpdateRule(average_decay=always(-1.0)), "of at least 0"),
        (UpdateRule(positive_discount=drifting()), "does not give each iteration one number"),
        (UpdateRule(policy_map=not_a_policy), "policy_map"),
        (UpdateRule(reweight=beyond_the_arrays), "reweight .* fails: IndexError: index 0 is out of bounds"),
        (UpdateRule(reweight=not_numbers), "reweight .* turns finite regrets into"),
        (UpdateRule(positive_discount=always(0.0), negative_discount=always(0.0)), "does not converge"),
        (UpdateRule(policy_map=always_exploring), "does not converge: exploitability on Kuhn: 0.07.* hundredth"),
        (UpdateRule(positive_discount=always(0.5), negative_discount=always(0.5)), "does not converge"),
        (UpdateRule(average_decay=always(0.0)), "does not converge"),
        (UpdateRule(policy_map=the_first_of_the_best, symmetric=True), "says that it is symmetric, but its results"),
        (
            UpdateRule(reweight=the_first_more, parameters=(lambda t: (t - 1) / t,), symmetric=True),
            "says that it is symmetric, but its results",
        ),
        (UpdateRule(regularise=no_number, exact_only=True), "regularise .* all must be finite numbers"),
        (UpdateRule(regularise=the_first_value, exact_only=True, symmetric=True), "says that it is symmetric"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_wrong_with_a_rule_is_found(rule, message):
    with pytest.raises(ConformanceError, match=message):
        check_update_rule(rule)


def test_what_are_no_probabilities_is_found():
    with pytest.raises(ConformanceError, match=r"inclusion .* must lie in \(0, 1\]"):
        check_sampler(Sampler(traverser="subset", inclusion=never_the_last))
    with pytest.raises(ConformanceError, match=r"mixture .* gives 1.7"):
        check_sampler(Sampler(traverser="one", exploration=0.5, mixture=more_than_all))


def test_a_mixture_that_fails_at_the_first_walk_is_found():
    def first_walk_left_out(policy, count, visits, parameters):
        return np.nan if visits == 0.0 else 0.5

    with pytest.raises(ConformanceError, match="gives nan after 0 visits"):
        check_sampler(Sampler(traverser="one", exploration=0.5, mixture=first_walk_left_out))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_estimates_that_are_not_finite_do_not_pass(value, monkeypatch):
    batches = np.random.default_rng(1).normal(size=(200, 2))
    assert smallest_p(batches, np.zeros(2))[0] > LEVEL
    batches[7, 1] = value
    assert smallest_p(batches, np.zeros(2)) == (0.0, 2)
    drawn = Estimates._drawn

    def damaged(*arguments):
        estimates = drawn(*arguments)
        estimates.regrets[7, 1] = value
        return estimates

    monkeypatch.setattr(Estimates, "_drawn", damaged)
    with pytest.raises(ConformanceError, match="gives regrets that are not finite, for player 0 on kuhn"):
        check_sampler("external", walks=200)


@pytest.mark.slow
def test_rare_large_estimates_are_not_called_a_bias():
    check_sampler("outcome(exploration=0.2)")


def test_a_biased_sampler_is_found():
    with pytest.raises(ConformanceError, match="biased"):
        check_sampler(Sampler(traverser="subset", inclusion=hardly_the_last), walks=20_000)


@pytest.mark.slow
def test_wrong_probabilities_of_shared_draws_are_found(monkeypatch):
    right = chance_draws.chance_labels

    def wrong(*given):
        return [replace(labels, probability=0.9 * labels.probability) for labels in right(*given)]

    monkeypatch.setattr(chance_draws, "chance_labels", wrong)
    with pytest.raises(ConformanceError, match=r"biased.* even over 2,000,000 walks .* more exploration, or"):
        check_sampler("public_chance", walks=20_000)


def test_a_component_without_a_word_on_it_is_found(own_components):
    update_rules.register("test_silent", source="a test")(lambda decay=1.0: UpdateRule(average_decay=always(decay)))
    with pytest.raises(ConformanceError, match="needs a docstring"):
        check_update_rule("test_silent")
