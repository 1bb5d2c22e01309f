"""Rules that regularise values or end with their last policy; whole runs are in engine/test_reference.py."""

from __future__ import annotations

import numpy as np
import pytest
from support import game, place, random_policy, regrets, rule_tables

import rlccfr
from rlccfr.components import Abstraction, UpdateRule
from rlccfr.registry import update_rules
from rlccfr.testing import own_reach


def note_reach(values, policy, reach, state, parameters, utility_range):
    """Keep what the function receives; value the infoset at 100 more than its mean."""
    value = 100.0
    for a in range(len(values)):
        state[a, 0] = reach[a]
        state[a, 1] = policy[a]
        value += policy[a] * values[a]
    return value


NOTING = UpdateRule(regularise=note_reach, arrays=("reach", "policy"), exact_only=True, symmetric=True)


@pytest.mark.parametrize("options", [{}, {"averaging": "pre"}, {"simultaneous": True}])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_rule_that_regularises_receives_the_policy_played_and_its_own_players_reach(name, options):
    """In all orders of updates, an iteration plays each player's policy of its beginning."""
    tree = game(name)
    solver = rlccfr.Solver(tree, NOTING, reduce=False, **options)
    place(solver, 3, policy=random_policy(tree, 1).probabilities)
    for _ in range(3):
        policy = solver.current_policy().probabilities
        reach = np.repeat(own_reach(tree, policy), np.diff(tree.view.first_sequence)) * policy
        solver.run(iterations=1, curve=False)
        tables = rule_tables(solver)
        np.testing.assert_allclose(tables["reach"], reach, rtol=1e-14)
        assert np.array_equal(tables["policy"], policy)
        solver.exploitability()  # evaluating must not disturb the reach that the next iteration finds


def test_the_value_that_is_returned_is_passed_up():
    """Each of the infosets right below an action adds 100 to it, and the infoset's own 100 is subtracted."""
    tree = game("kuhn")
    plain, noting = (rlccfr.Solver(tree, rule, reduce=False) for rule in (UpdateRule(), NOTING))
    for solver in (plain, noting):
        solver.run(iterations=1, curve=False)
    parents = tree.view.parent[tree.view.parent < tree.num_sequences]
    infosets_below = np.bincount(parents, minlength=tree.num_sequences)
    expected = np.where(infosets_below > 0, 100.0 * infosets_below, 0.0)
    mean = np.repeat(np.add.reduceat(expected, tree.view.first_sequence[:-1]) / 2, 2)  # of two actions, played alike
    first_player = tree.sequences_of(0)  # the second player has met another policy of the first player already
    shift = regrets(noting) - regrets(plain)
    np.testing.assert_allclose(shift[first_player], (expected - mean - 100.0)[first_player], atol=1e-12)


def test_rtcfr_plus_by_hand():
    """One infoset with reach 0.5, whose reference reached the actions with 0.2 and 0.2."""
    rule = update_rules.resolve("rtcfr_plus(mu=0.1,gamma=1e-4,period=10,payoff_range=2.0)")
    policy = np.array([0.75, 0.25])
    row = rule.schedule(12, 0)[0, 5:]
    assert row[-1] == 0.5e-4  # halved after iteration 10
    values, state = np.array([1.0, 3.0]), np.array([[0.2, 1.0], [0.2, 1.0]])
    value = rule.regularise(values, policy, 0.5 * policy, state, row, 4.0)
    # mu is 0.1 x 4 / 2
    regularised = [1.0 - 0.2 * (0.375 - 0.2), 3.0 - 0.2 * (0.125 - 0.2)]
    unperturbed = (policy - 0.5e-4) / (1 - 1e-4)
    assert values == pytest.approx(regularised)
    assert value == pytest.approx(unperturbed @ regularised)
    # In iteration 20, the policy becomes the reference, from which it is not drawn away.
    values = np.array([1.0, 3.0])
    rule.regularise(values, policy, 0.5 * policy, state, rule.schedule(20, 0)[0, 5:], 4.0)
    assert values.tolist() == [1.0, 3.0]
    assert state[:, 0].tolist() == [0.375, 0.125]
    row = np.array([3.0, 1.0])
    rule.policy_map(row, state, rule.schedule(12, 0)[0, 5:], 4.0)
    assert row == pytest.approx([0.75 * (1 - 1e-4) + 0.5e-4, 0.25 * (1 - 1e-4) + 0.5e-4])


def test_the_last_policy_is_the_result_and_converges():
    tree = game("leduc")
    solver = rlccfr.Solver(tree, "rtcfr_plus")
    result = solver.run(iterations=2000)
    assert result.exploitability == pytest.approx(result.points[-1].exploitability_current, rel=1e-9)
    policies = solver.average_policy().probabilities, solver.current_policy().probabilities
    np.testing.assert_allclose(*policies, rtol=1e-14)
    assert result.exploitability < 0.01 * rlccfr.Policy.uniform(tree).exploitability()
    # A switch to a rule with an average goes on from the newest policy.
    solver.switch(update_rule="cfr_plus")
    assert solver.run(iterations=50, curve=False).exploitability < 0.05


REGULARISING = UpdateRule(regularise=note_reach, arrays=("reach", "policy"), exact_only=True)
CURRENT = UpdateRule(exact_only=True, output="current")


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("rtcfr_plus", {"sampler": "external"}, "needs exact passes"),
        ("rtcfr_plus", {"abstraction": "cfr_br"}, "best responses to the game's own payoffs"),
        ("rtcfr_plus", {"abstraction": "rcfr"}, "needs tables"),
        ("rtcfr_plus", {"blend": True}, "leave out blend=True"),
        (REGULARISING, {"abstraction": Abstraction(best_response=True)}, "best responses to the game's own payoffs"),
        (CURRENT, {"abstraction": "rcfr"}, "needs tables"),
        (CURRENT, {"blend": True}, "leave out blend=True"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(rule, options, message):
    with pytest.raises(rlccfr.ComponentError, match=message) as error:
        rlccfr.Solver(game("kuhn"), rule, **options)
    assert "\n" not in str(error.value)


def test_threads_and_public_trees_are_refused(monkeypatch):
    monkeypatch.setattr("rlccfr.engine.binding.checked_threads", lambda threads: threads)
    with pytest.raises(rlccfr.ComponentError, match="leave out threads=2"):
        rlccfr.Solver(game("kuhn"), "rtcfr_plus", threads=2)
    holdem = rlccfr.load_game("holdem(ranks=4,suits=2)")
    with pytest.raises(rlccfr.ComponentError, match="functions of its own"):
        rlccfr.Solver(holdem, "rtcfr_plus")
    with pytest.raises(rlccfr.ComponentError, match="the result is the average policy"):
        rlccfr.Solver(holdem, CURRENT)


@pytest.mark.parametrize("fields", [{"regularise": note_reach}, {"output": "current"}])
def test_such_a_rule_needs_exact_passes(fields):
    with pytest.raises(rlccfr.ComponentError, match="needs exact_only=True"):
        UpdateRule(**fields)
