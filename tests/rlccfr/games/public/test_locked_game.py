"""Locks on public trees: a known toy game, compiled games with the same lock, and linear programs of plain subgames."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from plain_subgames import PlainSubgame, cards_in, generated
from public_games import derived_game
from scipy.sparse import coo_matrix, vstack
from subgames import EXAMPLE, RIVER
from support import engine_state, game, has_crew, place, place_public, public_sums, regrets

import rlccfr
from rlccfr.engine.public.evaluation import public_values
from rlccfr.engine.public.mixer import PublicMixer
from rlccfr.errors import ComponentError, PolicyError
from rlccfr.locks import Lock, locked

TOY = {"board": "2s3h4d6c7c", "stack": 10, "ip": "KsKh", "bets": "a"}
"""The toy game of the tests of postflop-solver's node locking; queens and jacks lose to the kings, and aces win."""


def toy(oop, pot, lock, rule="dcfr"):
    """Solve the toy game with a lock; return the policy, and what each hand gets of the pot."""
    solver = rlccfr.Solver(rlccfr.subgame(**TOY, oop=oop, pot=pot), rule, lock=lock)
    solver.run(10_000, until="0.001%")
    policy = solver.average_policy()
    values = {**policy.values_by_hand(0), **policy.values_by_hand(1)}
    return policy, {hand: value + pot / 2 for hand, value in values.items()}, solver


def test_a_caller_that_calls_too_often_is_not_bluffed():
    """If 75 % call a bet of half the pot, a bluff loses: 0.25 x 20 < 0.75 x 10. Aces get 0.25 x 20 + 0.75 x 30."""
    policy, values, solver = toy("AsAh,QsQh", 20, {"a": {"f": 0.25, "c": 0.75}})
    assert [policy.action_probabilities(0, hand)["c"] for hand in ("QsQh", "AsAh")] == pytest.approx([1, 0], abs=1e-3)
    assert [values[hand] for hand in ("QsQh", "AsAh", "KsKh")] == pytest.approx([0, 27.5, 6.25], abs=0.01)
    assert solver.values().gains[1] == pytest.approx(0, abs=1e-9)  # the caller has no choice
    assert policy.values().gains[1] > 1  # without the lock, it would fold


def test_a_caller_that_folds_too_often_is_always_bluffed():
    for rule in ("pcfr_plus", "momentum_dcfr"):
        policy, values, _ = toy("AsAh,QsQh", 20, {"a": [0.5, 0.5]}, rule)
        bets = [policy.action_probabilities(0, hand)["a"] for hand in ("QsQh", "AsAh")]
        assert bets == pytest.approx([1, 1], abs=1e-3)
        assert [values[hand] for hand in ("QsQh", "AsAh", "KsKh")] == pytest.approx([5, 25, 5], abs=0.01)


def test_hands_that_are_not_locked_make_up_for_those_that_are():
    """In all, half as many bluffs as aces bet in equilibrium: 0.5 hands, of which jacks are 0.2."""
    policy, values, _ = toy("AsAh,QsQh,JsJh", 10, {"": {"JJ": {"check": 0.8, "a": 0.2}}})
    checks = [policy.action_probabilities(0, hand)["c"] for hand in ("JsJh", "QsQh", "AsAh")]
    assert checks == pytest.approx([0.8, 0.7, 0], abs=1e-3)
    assert [values[hand] for hand in ("JsJh", "QsQh", "AsAh", "KsKh")] == pytest.approx([0, 0, 15, 5], abs=0.01)


def locks_on_both(name):
    """Return a compiled game and its public tree, both with a random lock, and the free sequences' entries."""
    tree, public = game(name), derived_game(game(name).openspiel_name)
    rng = np.random.default_rng(2)
    is_locked = (rng.random(tree.num_infosets) < 0.4)[tree.owner]
    policy = tree.normalised(rng.random(tree.num_sequences))
    entries = np.flatnonzero(is_locked)
    on_public = np.flatnonzero(is_locked[public.sequence])
    return (
        Lock(tree, entries, policy[entries]).locked_game(),
        Lock(public.public, on_public, policy[public.sequence[on_public]]).locked_game(),
        public.sequence,
    )


def shares_of_locks(lock):
    """Return for each sequence the product of the probabilities of its player's locked actions before its infoset."""
    tree = lock.game
    probability = np.ones(tree.num_sequences + 2)
    probability[lock.entries] = lock.probabilities
    share = np.ones(tree.num_sequences + 2)
    for infoset, before in enumerate(tree.view.parent.tolist()):
        share[tree.infoset_sequences(infoset)] = share[before] * probability[before]
    return share


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "pdcfr_plus", "momentum_dcfr"])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_iterations_are_those_of_the_compiled_locked_game(name, rule):
    """The compiled game's lock is moves of chance, which the tests compare with linear programs.

    There, regrets also have the share in which the lock leads their player to them.
    """
    tree, public, sequence = locks_on_both(name)
    ours, theirs = rlccfr.Solver(public, rule), rlccfr.Solver(tree, rule, reduce=False)
    start = 100 * (1 + np.random.default_rng(0).random(public.num_sequences))
    place_public(ours, 3, start[sequence])
    share = shares_of_locks(tree.lock)[tree.kept]
    place(theirs, 3, start[tree.kept] * share)
    for solver in (ours, theirs):
        solver.run(iterations=3, curve=False)
    ours_by_sequence = np.empty(len(sequence))
    ours_by_sequence[sequence] = regrets(ours)
    assert ours_by_sequence[tree.kept] * share == pytest.approx(regrets(theirs), abs=1e-10)
    assert ours.values().game == pytest.approx(theirs.values().game, abs=1e-12)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)
    policy = np.empty(len(sequence))
    policy[sequence] = ours.average_policy().probabilities
    assert policy == pytest.approx(theirs.average_policy().probabilities, abs=1e-12)


def test_responses_to_a_lock_are_those_of_the_compiled_locked_game():
    tree, public, _ = locks_on_both("leduc")
    ours, theirs = (rlccfr.Solver(each, "cfr", abstraction="cfr_br") for each in (public, tree))
    for solver in (ours, theirs):
        solver.run(iterations=300, curve=False)
    value = rlccfr.solve(tree).value
    for solver in (ours, theirs):
        values = solver.values()
        assert abs(values.game[0] - value) <= values.nash_conv + 1e-9
        assert values.exploitability < 0.2 * rlccfr.Policy.uniform(tree).exploitability()


class LockedSubgame(PlainSubgame):
    """A plain subgame in which the policies of some infosets are equations of the program.

    Attributes:
        fixed: for each player, the policy of each locked infoset.
    """

    fixed: tuple[dict, dict] = ({}, {})

    def constraints(self, player):
        matrix = super().constraints(player)
        rows = []
        for infoset, policy in self.fixed[player].items():
            sequences, before = self.infosets[player][infoset]
            for sequence, share in zip(sequences, policy, strict=True):
                row = np.zeros(self.num_sequences[player])
                row[sequence] += 1.0
                row[before] -= share
                rows.append(row)
        return vstack([matrix, coo_matrix(np.array(rows))]).tocoo() if rows else matrix


SPOTS = [
    *(("river", seed) for seed in range(6)),
    *(pytest.param("turn", seed, marks=pytest.mark.slow) for seed in range(3)),
]


@pytest.mark.parametrize(("street", "seed"), SPOTS)
def test_spots_have_the_value_of_the_program_with_fixed_sequences(street, seed):
    """Player 0's first hand, or pair, is locked at the root, and all hands of player 1 after a check."""
    arguments = generated(seed, street, hands=4)
    plain = LockedSubgame(arguments)
    plain.fixed = ({}, {})
    tree = rlccfr.subgame(**arguments)
    first_hand = arguments["oop"].split(",")[0].partition(":")[0]
    line_of = {(0, ""): "", (1, "check,"): "c"}
    table = {}
    for player, infosets in enumerate(plain.infosets):
        for infoset, (sequences, _) in infosets.items():
            hand, (_, *more_cards), _, moves, _ = infoset
            is_first = len(first_hand) > 2 or hand[0][0] == hand[1][0] == first_hand[0]
            is_first = is_first and (len(first_hand) == 2 or hand == cards_in(first_hand))
            begins = len(more_cards) == len(arguments["board"]) // 2 - 3
            if (player, moves) not in line_of or not begins or (player == 0 and not is_first):
                continue
            share = np.arange(len(sequences), 0, -1.0)
            plain.fixed[player][infoset] = share / share.sum()
            by_action = (share / share.sum()).tolist()
            table[line_of[player, moves]] = by_action if player else {first_hand: by_action}
    assert sum(map(len, plain.fixed))
    for options in ({"update_rule": "dcfr", "blend": True}, {"update_rule": "cfr_plus"}):
        solver = rlccfr.Solver(tree, **options, lock=table, dtype="float64")
        solver.run(iterations=2000, curve=False)
        values = solver.values()
        assert abs(values.game[0] - plain.value()) <= values.nash_conv + 1e-6
        assert values.nash_conv < 0.01 * tree.pot


def test_a_cut_of_blends_is_tight_with_a_lock():
    """A best response in the tree of sequences is that of a pass."""
    tree = locked(rlccfr.load_game("holdem(ranks=4,suits=2,private=2,flop=2)"), {0: lambda _: None, 1: half_of})
    own = PublicMixer(tree, np.dtype(float), None)
    plan = np.zeros(own.size)
    solver = rlccfr.Solver(tree, "cfr")
    solver.run(iterations=3, curve=False)
    own.fill_plan(public_sums(solver), plan)
    respond = own.responder(plan[None], 0.0)
    for player in range(2):
        cut = np.zeros(1)
        value = respond(player, np.ones(1), cut)
        assert value == pytest.approx(public_values(tree, plan)[2 - player], abs=1e-12)
        assert cut[0] == pytest.approx(value, abs=1e-12)


def half_of(line):
    """Return a lock on lines of even length."""
    return None if len(line) % 2 else {"c": 1}


@pytest.mark.slow
def test_draws_blends_threads_and_checkpoints_keep_the_lock(tmp_path):
    tree = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)")
    lock = {"": {"c": 0.5, "r": 0.5}}
    options = ({}, {"blend": True}, {"threads": 2}, {"sampler": "public_chance"}, {"sampler": "self_public_chance"})
    solvers = [rlccfr.Solver(tree, "dcfr", lock=lock, **each) for each in options]
    uniform = rlccfr.PublicPolicy.uniform(solvers[0].game).exploitability()
    for solver in solvers:
        assert solver.run(iterations=2000, curve=False).exploitability < 0.2 * uniform
        at_the_root = solver.average_policy().at(0).T
        assert at_the_root == pytest.approx(np.tile([0, 0.5, 0.5], (4, 1)), abs=1e-12)
        assert solver.average_policy().game is tree
        solver.save(tmp_path / "run.npz")
        again = rlccfr.Solver.load(tmp_path / "run.npz")
        assert again.game.content_hash == solver.game.content_hash != tree.content_hash
        for each in (solver, again):
            each.run(iterations=10, curve=False)
        assert all(np.array_equal(engine_state(again)[key], array) for key, array in engine_state(solver).items())
    one, _, two, *_ = solvers
    assert has_crew(two)
    assert np.array_equal(regrets(one), regrets(two))
    assert solvers[1].exploitability() < one.exploitability()
    values = [solver.values() for solver in solvers]
    assert all(abs(each.game[0] - values[0].game[0]) <= each.nash_conv + values[0].nash_conv for each in values)


def test_a_spots_lock_is_kept_in_a_checkpoint_and_its_policy_is_the_spots(tmp_path):
    tree = rlccfr.subgame(**RIVER)
    solver = rlccfr.Solver(tree, lock={"b50": {"QQ": {"call": 1}}})
    solver.run(iterations=100, curve=False)
    solver.save(tmp_path / "run.npz")
    assert rlccfr.Solver.load(tmp_path / "run.npz").game.content_hash == solver.game.content_hash
    solver.average_policy().save(tmp_path / "policy.npz")
    policy = rlccfr.PublicPolicy.load(tmp_path / "policy.npz")
    assert policy.action_probabilities(policy.game.node("b50"), "QsQd") == {"f": 0, "c": 1, "a": 0}
    # A saved policy locks one of the players, so that the other one responds to it.
    response = rlccfr.solve(tree, iterations=500, lock={1: tmp_path / "policy.npz"})
    assert response.value == pytest.approx(policy.values().best_response[0], abs=0.01)


def test_hands_that_the_game_does_not_tell_apart_are_locked_together():
    tree = rlccfr.subgame(**EXAMPLE | {"board": "Td9d6d", "bets": "a", "raises": "", "stack": 20, "oop": "AA,KK"})
    first = locked(tree, {"": {"AhAs": {"c": 1}}})
    assert first.lock.num_infosets == 1
    assert locked(tree, {"": {"AcAh,AcAs": {"c": 1}}}).content_hash == first.content_hash
    with pytest.raises(PolicyError, match="fixes an infoset twice"):
        locked(tree, {"": {"AhAs": {"c": 1}, "AcAs": {"a": 1}}})


BAD = [
    ({"x": [1, 0]}, "no node of 'subgame .*' has the path 'x'"),
    ({"cc": [1, 0]}, "nobody acts after 'cc'"),
    ({"": [1, 0]}, r"at the root, a lock must have a probability for each action \(c, b50, a\), not 2 numbers, \[1, "),
    ({"": {"c": "1"}}, "at the root, a lock's probabilities must be numbers from 0 to 1, not '1' for c"),
    ({"": {"check": 0.5, "a": None}}, "must be numbers from 0 to 1, not None for a"),
    ({"": {"c": float("nan"), "a": 1}}, "must be numbers from 0 to 1, not nan for c"),
    ({"": {"AA": [0.5, 0.5]}}, "at the root with 'AA', a lock must have a probability for each action .*not 2 numbers"),
    (
        {"": {"AA": {"c": -1}}},
        "at the root with 'AA', a lock's probabilities must be numbers from 0 to 1, not -1 for c",
    ),
    (
        {"": {"AA": {"c": 1}, "a": 0.5}},
        "probabilities of actions, such as 'a', or distributions for hands, such as 'AA'",
    ),
    (
        {"": {"AA": {"c": 1}, "a": None}},
        "probabilities of actions, such as 'a', or distributions for hands, such as 'AA'",
    ),
    ({"": {0: {"c": 1}}}, "at the root with 0, hands or rolls must be given as a string, not as 0"),
    ({"": {"AhAx": {"c": 1}}}, "at the root with 'AhAx', the range has 'AhAx'"),
    ({"": {"AhAh": {"c": 1}}}, "at the root with 'AhAh', the range has 'AhAh', which is one card twice"),
    ({"": {"raise": 1}}, "has the action 'raise', but the actions are c, b50, a"),
    ({"": {"c": 0.4}}, "must sum to 1, not to 0.4"),
    ({"": {"AA": {"c": 0.4}}}, "at the root with 'AA', a lock's probabilities must sum to 1"),
    ({"": {"22": {"c": 1}}}, "holds none of these hands"),
    ({"": {"AA:0.5": {"c": 1}}}, "have no weights"),
    ({"": {"A": {"c": 1}}}, "the range has 'A'"),
    ({"": {"AA": {"c": 1}, "AsAh": {"a": 1}}}, "fixes an infoset twice"),
    ({"": {"AA": None}}, "must have a probability for each action"),
    ({1: {"": [1, 0, 0]}}, "at the root, player 0 acts, but the lock is for player 1"),
    ({"": {}}, "must sum to 1"),
    (lambda line: None, "fixes nothing"),
]


@pytest.mark.parametrize(("lock", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_no_lock_on_a_spot_is_refused_in_one_line(lock, message):
    tree = rlccfr.subgame(**RIVER)
    with pytest.raises(PolicyError, match=message) as raised:
        rlccfr.Solver(tree, lock=lock)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_what_can_not_hold_a_lock_is_refused():
    holdem = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)")
    with pytest.raises(ComponentError, match="with a lock can't have buckets"):
        rlccfr.Solver(holdem, abstraction="equity(buckets=2)", lock={"": {"c": 1}})
    with pytest.raises(PolicyError, match="have no names"):
        rlccfr.Solver(derived_game("kuhn_poker").public, lock={"": {"c": 1}})
    with pytest.raises(PolicyError, match="fixes all decisions"):
        locked(holdem, rlccfr.PublicPolicy.uniform(holdem))


def test_rolls_are_locked_by_name(tmp_path):
    tree = rlccfr.load_game("bluff")
    names = tree.row_names(0)
    (tmp_path / "lock.json").write_text(json.dumps({"": {f"{names[0]}, {names[1]}": {tree.letters(0)[0]: 1}}}))
    lock = locked(tree, tmp_path / "lock.json").lock
    assert lock.num_infosets == 2
    assert Counter(lock.probabilities.tolist()) == {1.0: 2, 0.0: 2 * len(tree.letters(0)) - 2}
    with pytest.raises(PolicyError, match="nobody rolls 'x'"):
        locked(tree, {"": {"x": {tree.letters(0)[0]: 1}}})
