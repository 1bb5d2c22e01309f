from __future__ import annotations

import pytest
from support import engine_state, policy_sums, random_word

import rlccfr
from rlccfr.catalog import make
from rlccfr.engine.learning.players import past_weight

LONG = 20_000


@pytest.mark.parametrize("rule", ["cfr", "lcfr", "dcfr", "dcfr_plus"])
@pytest.mark.parametrize("iterations", [1, 2, 3, 50, LONG])
def test_the_pasts_weight_is_the_sum_of_products_of_discounts(rule, iterations):
    made = make(rule)
    discounts = made.schedule(1, iterations)[:-1, 0]
    weight = 0.0
    for discount in discounts:
        weight = discount * weight + 1.0
    assert past_weight(made, iterations) == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize(
    "name",
    ["turn_based_simultaneous_game(game=matrix_rps())",
     *(pytest.param(name, marks=pytest.mark.slow) for name in (
         "goofspiel(num_cards=1,imp_info=True)",
         "turn_based_simultaneous_game(game=matrix_mp())", "turn_based_simultaneous_game(game=matrix_brps())",
         "goofspiel(num_cards=2,imp_info=True)"))],
)  # fmt: skip
@pytest.mark.parametrize("learned", [("deep_ecfr_plus", "none"), ("cfr_plus", "rcfr")])
def test_games_with_one_infoset_a_player_are_solved(name, learned):
    """No feature has any information in these games, but the bias is enough.

    The limit is half of the uniform policy's exploitability, or half of a pure policy's where the uniform policy is an
    equilibrium.
    """
    rule, abstraction = learned
    tree = rlccfr.load_game(name)
    result = rlccfr.Solver(tree, rule, "external", abstraction).run(iterations=200, curve=False)
    uniform = rlccfr.Policy.uniform(tree).exploitability()
    assert result.exploitability < (0.5 * uniform if uniform > 1e-9 else 0.5)


@pytest.mark.parametrize("options", [{"update_rule": {"id": "deep_cfr", "learning_rate": 1e30}},
                                     {"abstraction": {"id": "rcfr", "learning_rate": 1e30}}])  # fmt: skip
def test_a_network_that_diverges_is_an_error_not_a_figure(options):
    with pytest.raises(rlccfr.OverflowedError):
        rlccfr.Solver(rlccfr.load_game("kuhn"), **options).run(iterations=20)


def test_walks_and_models_draw_from_streams_of_their_own():
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), make("deep_ecfr", preset="sweep"), "external")
    words = [random_word(solver)]
    words += [int(array[0]) for name, array in engine_state(solver).items() if name.endswith("memory.rng")]
    assert len(words) == 7
    assert len(set(words)) == 7


def test_a_regressors_average_is_exact():
    """After one iteration, the second player's average has weight everywhere, not only on the paths of walks."""
    tree = rlccfr.load_game("leduc")
    solver = rlccfr.Solver(tree, "cfr", "outcome", "rcfr")
    solver.run(iterations=1, curve=False)
    assert (policy_sums(solver)[tree.sequences_of(1)] > 0).all()
