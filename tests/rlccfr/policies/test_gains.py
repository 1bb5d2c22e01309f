"""What best responses gain is split among the states as its definition says, and nothing is lost."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from plain_subgames import PlainSubgame, generated
from public_games import derived_game
from subgames import RIVER
from support import random_policy

import rlccfr
from rlccfr import reference
from rlccfr.games.public import view
from rlccfr.policies.gains import gains_at_decisions, gains_of_infosets


def gains_in_plain_python(spiel, policy):
    """Return the gain at each infoset by its definition, from OpenSpiel's states and CFR's reference."""
    gains = {}
    for player in (0, 1):
        follows_best = {**policy, **reference.best_response(spiel, policy, player)}
        action_values, own_reach = defaultdict(lambda: defaultdict(float)), {}

        def visit(state, own, others, player=player, follows=follows_best, values=action_values, reach=own_reach):
            """Add up counterfactual values; return the state's value if the best response is followed from here on."""
            if state.is_terminal():
                return state.player_return(player)
            is_own = not state.is_chance_node() and state.current_player() == player
            infoset = "" if state.is_chance_node() else reference.infoset_of(state)
            value = 0.0
            for place, (action, probability) in enumerate(reference.action_probabilities(state, follows)):
                if not is_own:
                    value += probability * visit(state.child(action), own, others * probability)
                    continue
                reach[infoset] = own
                below = visit(state.child(action), own * policy[infoset][place], others)
                values[infoset][place] += others * below
                value += probability * below
            return value

        visit(spiel.new_initial_state(), 1.0, 1.0)
        for infoset, of_actions in action_values.items():
            mean = sum(policy[infoset][place] * value for place, value in of_actions.items())
            gains[infoset] = own_reach[infoset] * (max(of_actions.values()) - mean)
    return gains


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel(num_cards=3,imp_info=True,points_order=descending)"])
def test_gains_are_those_of_plain_python(name):
    tree = rlccfr.load_game(name)
    policy = random_policy(tree, 1)
    spiel = policy.to_openspiel().game
    table = {
        f"{int(infoset >= tree.view.infoset_begin[1])} {key}": policy.probabilities[
            tree.infoset_sequences(infoset)
        ].tolist()
        for infoset, key in enumerate(tree.infoset_keys)
    }
    expected = gains_in_plain_python(spiel, table)
    states = policy.gains_by_state()
    assert {f"{state.player} {state.text}": state.gain for state in states} == pytest.approx(expected, abs=1e-12)
    assert sum(state.gain for state in states) / 2 == pytest.approx(reference.exploitability(spiel, table), abs=1e-10)
    assert policy.gains_by_state(3) == states[:3]
    assert all(first.gain >= second.gain for first, second in pairwise(states))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_a_public_tree_has_the_gains_of_the_compiled_game(name):
    tree, public = rlccfr.load_game(name), derived_game(name)
    policy = random_policy(tree, 2)
    of_infosets = gains_of_infosets(policy).gain
    of_nodes = gains_at_decisions(rlccfr.PublicPolicy(public.public, policy.probabilities[public.sequence]))
    sizes = public.public.actions * public.public.rows
    infosets_of_nodes = np.split(tree.owner[public.sequence], np.cumsum(sizes)[:-1])
    expected = [of_infosets[np.unique(infosets)].sum() for infosets in infosets_of_nodes]
    assert of_nodes == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("street", "seed", "hands"), [("river", 0, 5), ("river", 2, 4), ("turn", 0, 3), ("turn", 1, 2)]
)
def test_gains_of_a_spot_are_those_of_a_second_implementation(street, seed, hands):
    """Uniform policies; boards that differ by suits alone are one in the library, so streets are compared as wholes."""
    arguments = generated(seed, street, hands)
    plain = PlainSubgame(arguments)
    matrix = plain.matrix()
    plans = [plain.uniform_plan(player) for player in (0, 1)]
    expected = defaultdict(float)
    for player, payoffs in enumerate((matrix @ plans[1], -(matrix.T @ plans[0]))):
        for (_, shown, *_), (sequences, before) in reversed(plain.infosets[player].items()):
            values = payoffs[list(sequences)]
            payoffs[before] += values.max()
            expected[player, 2 + len(shown)] += plans[player][before] * (values.max() - values.mean())
    found = defaultdict(float)
    subgame = rlccfr.subgame(**arguments)
    for state in rlccfr.PublicPolicy.uniform(subgame).gains_by_state():
        node = subgame.node(state.text)
        found[state.player, len(subgame.deal_at(node).board)] += state.gain
    assert found == pytest.approx(expected, abs=1e-10)


def test_gains_at_each_decision_of_a_river_are_those_of_a_second_implementation():
    arguments = RIVER | {"ip": "QQ,AcKc,AhKh"}  # the second implementation knows no AKs
    plain = PlainSubgame(arguments)
    matrix = plain.matrix()
    plans = [plain.uniform_plan(player) for player in (0, 1)]
    expected = defaultdict(float)
    for player, payoffs in enumerate((matrix @ plans[1], -(matrix.T @ plans[0]))):
        for (_, _, _, moves, _), (sequences, before) in reversed(plain.infosets[player].items()):
            values = payoffs[list(sequences)]
            payoffs[before] += values.max()
            words = [f"bet {move}" if move.isdigit() else move for move in moves.split(",") if move]
            expected[", ".join(words)] += plans[player][before] * (values.max() - values.mean())
    states = rlccfr.PublicPolicy.uniform(rlccfr.subgame(**arguments)).gains_by_state()
    found = {state.words: state.gain for state in states}
    assert found["the start"] == pytest.approx(expected[""], abs=1e-10)
    assert found["check, bet 50"] == pytest.approx(expected["check, bet 50"], abs=1e-10)
    assert sorted(found.values()) == pytest.approx(sorted(expected.values()), abs=1e-10)


@pytest.mark.parametrize(
    "name", ["holdem(rounds=2,ranks=5,suits=2,raises=2)", "bluff", "holdem(ranks=4,suits=2,private=1,flop=1)"]
)
def test_gains_on_a_public_tree_sum_to_those_of_its_values(name):
    game = rlccfr.load_game(name)
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences))
    states = policy.gains_by_state()
    for player, gain in enumerate(policy.values().gains):
        assert sum(state.gain for state in states if state.player == player) == pytest.approx(gain, abs=1e-10)


@pytest.mark.slow
def test_gains_of_tables_in_single_precision_are_as_precise_as_these(monkeypatch):
    monkeypatch.setattr(view, "LARGE", 1)
    solver = rlccfr.Solver(rlccfr.load_game("holdem(rounds=2,ranks=5,suits=2,raises=2)"), "dcfr")
    solver.run(iterations=5)
    policy = solver.average_policy()
    assert policy.table.dtype == np.float32
    assert sum(state.gain for state in policy.gains_by_state()) == pytest.approx(policy.nash_conv(), rel=1e-4)


def test_in_an_equilibrium_nothing_is_gained():
    policy = rlccfr.solve_exactly(rlccfr.load_game("leduc")).policy
    assert policy.gains_by_state(1)[0].gain < 1e-9


@pytest.mark.parametrize("most", [0, -1, 1.5, "all"])
def test_numbers_of_states_that_are_none_are_refused(most):
    with pytest.raises(rlccfr.PolicyError, match="most must be a positive integer, not"):
        rlccfr.Policy.uniform(rlccfr.load_game("kuhn")).gains_by_state(most)


def test_states_without_names_are_refused():
    public = derived_game("kuhn_poker").public
    with pytest.raises(rlccfr.PolicyError, match="have no names"):
        rlccfr.PublicPolicy.uniform(public).gains_by_state()
