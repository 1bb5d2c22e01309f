"""Policies are read in all forms in which OpenSpiel holds them, and mean the same there and here."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.algorithms import best_response, exploitability
from support import FORGETFUL, SMALL_DICE, game, random_policy

import rlccfr

BIDS = "goofspiel(num_cards=3,imp_info=True,points_order=descending)"
LEDUC_SOLVER = pyspiel.CFRSolver(pyspiel.load_game("leduc_poker"))  # its policies do not outlive it


def turn_based(name: str) -> pyspiel.Game:
    return rlccfr.Policy.uniform(game(name)).to_openspiel().game


def forms_of(solver: pyspiel.CFRSolver, spiel_game: pyspiel.Game) -> dict[str, object]:
    """Return the average policy of an OpenSpiel solver in each of OpenSpiel's forms."""
    average = solver.average_policy()
    table = solver.tabular_average_policy().policy_table()
    python = openspiel_policy.pyspiel_policy_to_python_policy(spiel_game, solver.tabular_average_policy())

    class WithoutPlayer:
        def action_probabilities(self, state):
            return average.action_probabilities(state)

    class WithPlayer:
        def action_probabilities(self, state, player):
            assert player == state.current_player()
            return average.action_probabilities(state)

    return {
        "C++": average,
        "C++ table": solver.tabular_average_policy(),
        "C++ table with another policy behind it": pyspiel.PartialTabularPolicy({}, average),
        "Python": python,
        "table of pairs": table,
        "table of dicts": {key: dict(row) for key, row in table.items()},
        "table with actions that are not legal": python.to_dict(),
        "function": average.action_probabilities,
        "function that returns pairs": average.get_state_policy,
        "object without player": WithoutPlayer(),
        "object that insists on the player": WithPlayer(),
        "one for each player": [average, python],
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", SMALL_DICE, BIDS])
def test_all_forms_of_a_policy_have_openspiels_exploitability(name):
    spiel_game = turn_based(name)
    solver = pyspiel.CFRSolver(spiel_game)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    expected = pyspiel.nash_conv(spiel_game, solver.average_policy())
    for form, policy in forms_of(solver, spiel_game).items():
        assert rlccfr.Policy.from_openspiel(game(name), policy).nash_conv() == pytest.approx(expected, abs=1e-9), form


def test_restored_recall_reads_tables_by_openspiels_information_states():
    tree = game(FORGETFUL, restore_recall=True)
    policy = pyspiel.UniformRandomPolicy(pyspiel.load_game(FORGETFUL))
    uniform = rlccfr.Policy.uniform(tree).probabilities
    for form in (policy, policy.policy_table()):
        np.testing.assert_allclose(rlccfr.Policy.from_openspiel(tree, form).probabilities, uniform)


def test_a_policy_of_a_simultaneous_game_is_read_by_that_games_states():
    simultaneous = pyspiel.load_game(BIDS)
    python = openspiel_policy.TabularPolicy(simultaneous)
    weights = np.random.default_rng(0).random(python.legal_actions_mask.shape) * python.legal_actions_mask
    python.action_probability_array[:] = weights / weights.sum(axis=1, keepdims=True)
    expected = exploitability.nash_conv(simultaneous, python)
    table = openspiel_policy.python_policy_to_pyspiel_policy(python)
    for form in (python, table, table.policy_table(), python.to_dict()):
        assert rlccfr.Policy.from_openspiel(game(BIDS), form).nash_conv() == pytest.approx(expected, abs=1e-12)
    responses = [best_response.BestResponsePolicy(simultaneous, player, python) for player in (0, 1)]
    ours = rlccfr.Policy.from_openspiel(game(BIDS), [responses[0], python])
    assert ours.values().game[0] == pytest.approx(responses[0].value(simultaneous.new_initial_state()))


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_best_responses_are_read_beside_a_policy_of_the_other_player(player):
    tree = game("leduc")
    policy = random_policy(tree, 0)
    theirs = policy.to_openspiel()
    table = openspiel_policy.python_policy_to_pyspiel_policy(theirs)
    response = pyspiel.TabularBestResponse(theirs.game, player, table)
    forms = [
        response.get_best_response_policy(),
        response.get_best_response_actions(),
        best_response.BestResponsePolicy(theirs.game, player, theirs),
        best_response.CPPBestResponsePolicy(theirs.game, player, theirs),
    ]
    for form in forms:
        pair = [form, theirs] if player == 0 else [theirs, form]
        ours = rlccfr.Policy.from_openspiel(tree, pair)
        assert ours.values().game[player] == pytest.approx(policy.values().best_response[player], abs=1e-12)
    wanted = r"\[policy, another\]" if player == 0 else r"\[another, policy\]"
    for form in forms[:3]:
        message = f"no probabilities for player {1 - player}'s information states, such as .* as in {wanted}$"
        with pytest.raises(rlccfr.PolicyError, match=message):
            rlccfr.Policy.from_openspiel(tree, form)


def test_policies_of_one_player_are_read_side_by_side():
    spiel_game = pyspiel.load_game("kuhn_poker")
    policies = [openspiel_policy.TabularPolicy(spiel_game, players=[player]) for player in (0, 1)]
    ours = rlccfr.Policy.from_openspiel(game("kuhn"), policies)
    np.testing.assert_array_equal(ours.probabilities, rlccfr.Policy.uniform(game("kuhn")).probabilities)


class Failing:
    """A policy with a fault of its own."""

    def __init__(self, error: Exception):
        self._error = error

    def action_probabilities(self, state, player_id=None):
        raise self._error


@pytest.mark.parametrize(
    "error", [TypeError("unsupported operand"), KeyError("weights"), ValueError("first\nsecond"), ZeroDivisionError()]
)
def test_a_fault_of_a_policy_is_told_as_its_own(error):
    with pytest.raises(rlccfr.PolicyError, match=r"the policy fails at '[012]'") as caught:
        rlccfr.Policy.from_openspiel(game("kuhn"), Failing(error))
    told = str(caught.value)
    line = Failing.action_probabilities.__code__.co_firstlineno + 1
    assert f"{type(error).__name__}: " in told
    assert (str(error).splitlines() or [type(error).__name__])[0] in told
    assert told.endswith(f"(line {line} of test_policy_reader.py)")
    assert "\n" not in told
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda: {"0": [(0, 1.0)]}, "no probabilities for 11 of the 12 information states of 'kuhn', such as '"),
        (dict, "no probabilities for 12 of the 12"),
        (lambda: pyspiel.TabularPolicy({}), "no probabilities for 12 of the 12"),
        (lambda: openspiel_policy.TabularPolicy(pyspiel.load_game("leduc_poker")), "no probabilities for 12 of the 12"),
        (LEDUC_SOLVER.average_policy, "fails at .*: SpielError: No policy found"),
        (
            lambda: lambda state: [0.5, 0.5],
            r"the policy gives \[0.5, 0.5\], which is neither {action: probability} nor",
        ),
        (lambda: lambda state: 0.5, "the policy gives 0.5, which is neither"),
        (lambda: lambda state: {0: "most"}, "the policy gives {0: 'most'}, which is neither"),
        (lambda: lambda state: {0: "1", 1: 0}, "the policy gives {0: '1', 1: 0}, which is neither"),
        (
            lambda: lambda state: {0: 0.5, 7: 0.5},
            "probability 0.5 to the action 7, but the legal actions are 0, 1",
        ),
        (lambda: lambda state: {0: 0.5, 1: 0.4}, "sum to 1"),
        (lambda: [lambda state: {0: 1.0}], "one for each of the two players, not 1"),
        (lambda: 3, "a policy of OpenSpiel's must be given as .*, not as 3"),
        (lambda: "uniform", "a policy of OpenSpiel's must be given as .*, not as 'uniform'"),
        (lambda: np.zeros((12, 2)), "a policy of OpenSpiel's must be given as .*, not as array"),
    ],
)
def test_what_is_no_policy_of_the_game_is_refused_in_one_line(policy, message):
    with pytest.raises(rlccfr.PolicyError, match=message) as caught:
        rlccfr.Policy.from_openspiel(game("kuhn"), policy())
    assert "\n" not in str(caught.value)


def test_the_game_must_be_compiled():
    with pytest.raises(TypeError, match=r"game must come from rlccfr.load_game\(...\), not 'kuhn'"):
        rlccfr.Policy.from_openspiel("kuhn", {})
