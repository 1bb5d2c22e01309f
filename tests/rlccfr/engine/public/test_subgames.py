"""Runs on no-limit subgames: beside a second implementation, a linear program, other forms, and with all options."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from plain_subgames import PlainSubgame, generated
from subgames import EXAMPLE, RIVER
from support import CORES, public_sums, regrets

import rlccfr
from rlccfr.games.public.card_tree import levels_from
from rlccfr.games.public.cards import swapped
from rlccfr.games.public.masses import allowed_reach
from rlccfr.games.public.subgame import DEFAULTS, SubgameRules
from rlccfr.locks import locked
from rlccfr.policies.listing import states
from rlccfr.registry import update_rules

DRAWING = ("public_chance", "opponent_public_chance", "self_public_chance", "chance")
SHARE_OF_POT = 1e-5
"""Largest distance between the bounds on a game's value, as a share of the pot."""

SPOTS = [
    # street, seed, hands of each range, target in per cent of the pot, marks
    *((street, seed, hands, ()) for street, seed, hands in (("river", 0, 5), ("river", 1, 6), ("river", 2, 4))),
    *((street, seed, hands, ()) for street, seed, hands in (("turn", 0, 3), ("turn", 1, 2), ("flop", 0, 2))),
    *(("river", seed, 6, pytest.mark.verify) for seed in range(3, 15)),
    *(("turn", seed, 3, pytest.mark.verify) for seed in range(2, 10)),
    *(("flop", seed, 2, pytest.mark.verify) for seed in (1, 3, 4, 6)),
]

GENERATED = pytest.mark.parametrize(
    ("street", "seed", "hands"),
    [pytest.param(street, seed, hands, marks=marks) for street, seed, hands, marks in SPOTS],
)

LARGER_RIVER = RIVER | {
    "stack": 150, "oop": "AA,KK:0.5,8d7d,77", "ip": "QQ,AKs,32s:0.25", "bets": "50%, a", "raises": "2.5x, a",
}  # fmt: skip

TURN = LARGER_RIVER | {
    "board": "Td9d6hQc",
    "stack": 60,
    "bets": "75%",
    "raises": "a",
    "oop": "AhAs,8d7d",
    "ip": "QdQh,AcKc",
}

TABULAR = [
    entry.id
    for entry in update_rules
    for rule in (entry.make(),)
    if (rule.is_plain or rule.only_predicts or rule.momentum is not None)
    if not (rule.learns or rule.controller or rule.average_weight or rule.output == "current" or rule.simultaneous)
]


@pytest.mark.slow
@GENERATED
def test_values_are_those_of_a_second_implementation(street, seed, hands):
    """Best responses to the uniform policy agree exactly, and the linear program's value lies between the bounds."""
    arguments = generated(seed, street, hands)
    plain = PlainSubgame(arguments)
    game = rlccfr.subgame(**arguments)
    value, first, second = plain.uniform_values()
    uniform = rlccfr.PublicPolicy.uniform(game).values()
    assert uniform.game[0] == pytest.approx(value, abs=1e-9)
    assert uniform.best_response == pytest.approx((first, second), abs=1e-9)
    solver = rlccfr.Solver(game, "dcfr", dtype="float64")
    solver.run(until=SHARE_OF_POT / 2 * game.pot, curve=False)
    best_0, best_1 = solver.values().best_response
    optimum = plain.value()
    slack = 1e-9 * game.utility_range
    assert -best_1 - slack <= optimum <= best_0 + slack
    assert best_0 + best_1 <= SHARE_OF_POT * game.pot


def without_merging(monkeypatch) -> None:
    """Let subgames merge no suits from now on."""
    from rlccfr.games.public import subgame

    monkeypatch.setattr(subgame, "range_symmetries", lambda known, weights: np.arange(52)[None])


@pytest.mark.parametrize(
    "changes",
    [
        {"board": "TdJd6d2d4d", "oop": "AA:0.5,87s", "ip": "KK,QJo:0.25"},
        pytest.param(
            {"board": "TdJd6d2d", "oop": "AA:0.5,8c7c,8h7h,8s7s", "ip": "KK", "bets": "a"}, marks=pytest.mark.slow
        ),
    ],
)
def test_merging_suits_changes_nothing(changes, monkeypatch):
    merged = rlccfr.subgame(**LARGER_RIVER | changes)
    without_merging(monkeypatch)
    whole = rlccfr.subgame(**LARGER_RIVER | changes)
    assert merged.num_sequences < whole.num_sequences / 2
    ours, theirs = (rlccfr.Solver(game, "cfr_plus", dtype="float64") for game in (merged, whole))
    for solver in (ours, theirs):
        solver.run(iterations=20, curve=False)
    assert ours.values().game == pytest.approx(theirs.values().game, abs=1e-9)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-9)
    values = [solver.average_policy().values_by_hand(0) for solver in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


@pytest.mark.parametrize(("board", "held"), [("Td9d6hQcJs", "AA:0.5,KQ,87s"), ("TdJd6d2d", "AhAs,AdAc:0.5,8c7c,KdKc")])
@pytest.mark.parametrize("sampler", ["none", *(pytest.param(sampler, marks=pytest.mark.slow) for sampler in DRAWING)])
def test_rows_of_each_player_are_those_of_shared_rows(board, held, sampler, monkeypatch):
    """With the same range on both sides, players may share rows, as in limit hold'em; nothing changes."""
    arguments = LARGER_RIVER | {"board": board, "oop": held, "ip": held}
    rules, shared_rules = (SubgameRules.of({**DEFAULTS, **arguments}) for _ in range(2))
    first = rules.levels[0].deals[0][0]
    shared_levels = levels_from(
        (first, first),
        [1] * (5 - len(rules.board)),
        lambda dealt, cards: ((one, one) for one in dealt[0].following(cards)),
    )
    own = rules.build()
    monkeypatch.setattr(SubgameRules, "levels", shared_levels)
    shared = shared_rules.build()
    assert len(shared.view.above) == len(own.view.above) / 2
    runs = [rlccfr.Solver(game, "pdcfr_plus", sampler, dtype="float64", seed=7) for game in (own, shared)]
    for run in runs:
        run.run(iterations=10, curve=False)
    assert regrets(runs[0]) == pytest.approx(regrets(runs[1]), abs=1e-12)
    assert runs[0].values().best_response == pytest.approx(runs[1].values().best_response, abs=1e-12)


@pytest.mark.parametrize("rule", TABULAR)
def test_every_tabular_rule_runs(rule):
    game = rlccfr.subgame(**LARGER_RIVER)
    solver = rlccfr.Solver(game, rule)
    begin = rlccfr.PublicPolicy.uniform(game).exploitability()
    result = solver.run(iterations=50)
    assert result.exploitability < begin / 2
    assert result.points[-1].exploitability == result.exploitability


@pytest.mark.skipif(CORES < 2, reason="there is one core")
def test_threads_leave_bitwise_the_same():
    game = rlccfr.subgame(**TURN)
    one, two = (rlccfr.Solver(game, "dcfr", threads=threads) for threads in (1, 2))
    results = [solver.run(iterations=7, curve=False) for solver in (one, two)]
    assert np.array_equal(regrets(one), regrets(two))
    assert np.array_equal(public_sums(one), public_sums(two))
    assert results[0].exploitability == results[1].exploitability


def test_a_run_goes_on_bitwise_from_its_file(tmp_path):
    game = rlccfr.subgame(**TURN)
    whole, part = (rlccfr.Solver(game, "pdcfr_plus") for _ in range(2))
    part.run(iterations=5)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")  # which makes the game again
    for solver in (whole, part):
        solver.run(iterations=10 - solver.result().iterations)
        solver.switch(update_rule="dcfr")
        solver.run(iterations=5)
    assert np.array_equal(regrets(whole), regrets(part))
    assert whole.exploitability() == part.exploitability()


def test_policies_are_kept_and_play_matches(tmp_path):
    game = rlccfr.subgame(**LARGER_RIVER)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(iterations=200)
    policy = solver.average_policy()
    policy.save(tmp_path / "policy.npz")
    policy.save(tmp_path / "policy.csv")
    loaded = rlccfr.PublicPolicy.load(tmp_path / "policy.npz")
    assert loaded.game.content_hash == game.content_hash
    assert np.array_equal(loaded.probabilities, policy.probabilities)
    uniform = rlccfr.PublicPolicy.uniform(game)
    match = policy.against(uniform)
    assert match.seats[0] == policy.seated_with(uniform).values().game[0]
    assert match.value > 0
    with pytest.raises(rlccfr.PolicyError, match="must be for the same game"):
        policy.against(rlccfr.PublicPolicy.uniform(rlccfr.subgame(**LARGER_RIVER | {"oop": "AA"})))
    probabilities = policy.action_probabilities(game.node("b50"), "QdQh")
    assert list(probabilities) == ["f", "c", "r125", "a"]
    assert sum(probabilities.values()) == pytest.approx(1.0)
    with pytest.raises(rlccfr.GameError, match="player 1's range has no 'AhAd' on the board "):
        policy.action_probabilities(game.node("b50"), "AhAd")  # aces are in the other range


def test_a_hand_is_found_in_either_order_of_its_cards():
    """Wherever something is looked up by hand; files and copies of it are those of a plain dict."""
    game = rlccfr.subgame(**LARGER_RIVER)
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences))
    equity = rlccfr.equity("QQ,AKs", "JJ+", board="2c3d4h8s9s")
    for player in range(2):
        for by_hand in (policy.values_by_hand(player), equity.hands[player], equity.weights[player]):
            assert len(by_hand) == len({frozenset((hand[:2], hand[2:])) for hand in by_hand})
            for again in (by_hand, copy.deepcopy(by_hand), pickle.loads(pickle.dumps(by_hand))):
                assert again == dict(by_hand)
                for hand, value in by_hand.items():
                    other = hand[2:] + hand[:2]
                    assert again[other] == again[hand] == again.get(other) == value
                    assert other in again
            assert json.loads(json.dumps(by_hand)) == dict(by_hand)
            assert "QdQx" not in by_hand
            assert by_hand.get("QdQx") is None
            for unknown in ("QdQx", 3):
                with pytest.raises(KeyError, match=str(unknown)):
                    by_hand[unknown]
    node = game.node("b50")
    assert policy.action_probabilities(node, "QhQd") == policy.action_probabilities(node, "QdQh")
    names = game.row_names(node)
    first, second = ([state.text for state in states(policy, [hand])] for hand in (names[0], swapped(names[0])))
    assert first == second != []
    locks = [locked(game, {"b50": {hand: {"f": 1}}}).content_hash for hand in ("QhQd", "QdQh")]
    assert locks[0] == locks[1]


def test_values_by_hand_add_up_to_the_game():
    game = rlccfr.subgame(**LARGER_RIVER)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(iterations=100)
    policy = solver.average_policy()
    for player in range(2):
        values = policy.values_by_hand(player)
        deal = game.deal_at(0, player)
        row_value = np.array([values[deal.hand_name(int(hand))] for hand in deal.firsts])
        begin = int(game.view.deals["edge"][0, player])
        chance = game.pair_probability * game.mass[player] * allowed_reach(game, player)[begin : begin + deal.rows]
        assert chance.sum() == pytest.approx(1.0, abs=1e-12)
        assert chance @ row_value == pytest.approx(policy.values().game[player], abs=1e-9)


@pytest.mark.parametrize("name", ["holdem(ranks=4,suits=2,private=2,flop=1)", "bluff"])
def test_other_games_have_values_by_hand_too(name):
    game = rlccfr.load_game(name)
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).exponential(size=game.num_sequences))
    for player in range(2):
        values = np.array(list(policy.values_by_hand(player).values()))
        weights = game.mass[player] if game.private_names else np.ones(len(values))  # hands are dealt alike
        assert values @ weights / weights.sum() == pytest.approx(policy.values().game[player], abs=1e-9)
    with pytest.raises(rlccfr.PolicyError, match="player must be 0 or 1, not 2"):
        policy.values_by_hand(2)


def test_blends_end_lower_and_say_what_they_reached():
    game = rlccfr.subgame(**TURN)
    plain, blended = (rlccfr.Solver(game, "dcfr", blend=blend) for blend in (False, True))
    results = [solver.run(iterations=500, curve=False) for solver in (plain, blended)]
    assert results[1].exploitability < results[0].exploitability
    assert results[1].exploitability == pytest.approx(blended.average_policy().exploitability(), rel=1e-6)


def test_a_target_in_per_cent_of_the_pot():
    game = rlccfr.subgame(**LARGER_RIVER)
    result = rlccfr.Solver(game, "dcfr").run(until="0.5%")
    assert result.target == pytest.approx(0.005 * 100)
    assert result.reached
    assert rlccfr.solve(game, until="0.1%").exploitability <= 0.1
    gains = rlccfr.PublicPolicy.uniform(game).values().gains
    assert sum(gains) / 2 == pytest.approx(rlccfr.PublicPolicy.uniform(game).exploitability())


def test_a_toy_game_has_its_known_solution():
    """Aces or queens against kings: bets of the pot, bluffs half as often as value bets, half of the calls."""
    game = rlccfr.subgame(board="2c3d4h8s9s", pot=10, stack=10, oop="AA,QQ", ip="KK", bets={"river": ("a", "")})
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(until="0.001%")
    policy = solver.average_policy()
    assert policy.action_probabilities(0, "AhAd")["a"] == pytest.approx(1.0, abs=1e-2)
    assert policy.action_probabilities(0, "QhQd")["a"] == pytest.approx(0.5, abs=1e-2)
    assert policy.action_probabilities(game.node("a"), "KhKd")["c"] == pytest.approx(0.5, abs=1e-2)
    assert solver.values().game[0] + game.pot / 2 == pytest.approx(7.5, abs=1e-3)


@pytest.mark.slow
def test_the_turn_of_postflop_solvers_documentation():
    """Its documentation prints an expected value of 91.945 for the player out of position."""
    game = rlccfr.subgame(**EXAMPLE)
    solver = rlccfr.Solver(game, "dcfr")
    solver.run(until="0.01%", curve=False)
    assert solver.values().game[0] + game.pot / 2 == pytest.approx(91.945, abs=0.02)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (("cfr", "external"), "sampler='public_chance' instead of 'external'"),
        (("cfr", "none", "equity"), "a game represented as a no-limit subgame does not support abstractions"),
        (("cfr", "none", "suits"), "a game represented as a no-limit subgame does not support abstractions"),
        (("deep_cfr",), "networks need hold'em without ranges"),
    ],
)
def test_what_assumes_a_uniform_deal_is_refused(algorithm, message):
    with pytest.raises(rlccfr.RLCCFRError, match=message) as error:
        rlccfr.Solver(rlccfr.subgame(**LARGER_RIVER), *algorithm)
    assert "\n" not in str(error.value)


def test_best_responses_as_opponents_run():
    game = rlccfr.subgame(**LARGER_RIVER)
    result = rlccfr.Solver(game, "cfr_plus", "none", "cfr_br").run(iterations=100)
    assert result.exploitability < rlccfr.PublicPolicy.uniform(game).exploitability() / 2
