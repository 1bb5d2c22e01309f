"""Locks: compiled games against linear programs of their own, and every door through which a lock comes."""

from __future__ import annotations

import copy
import json
import re
from contextlib import suppress
from random import Random

import numpy as np
import pyspiel
import pytest
import scipy.sparse as sp
from open_spiel.python.algorithms.expected_game_score import policy_value
from random_games import RandomGame
from support import engine_state, game, has_crew, random_policy, regrets

import rlccfr
from rlccfr.errors import CheckpointError, ComponentError, GameError, PolicyError
from rlccfr.games.features import moves_before
from rlccfr.locks import locked
from rlccfr.registry import abstractions, samplers, update_rules

JACK_BLUFFS = {"0": [0.5, 0.5], "2b": {"Bet": 1}}
"""In Kuhn poker, player 0 bluffs with half of its jacks, and player 1 calls with the king."""


class LockedGame(RandomGame):
    """A random game in which some infosets' policies are equations of the linear program.

    Attributes:
        fixed: for each player, the policy of each locked infoset.
    """

    fixed: tuple[dict[int, list[float]], dict[int, list[float]]] = ({}, {})

    def constraints(self, player):
        matrix, right = super().constraints(player)
        rows = []
        for infoset, policy in self.fixed[player].items():
            before, first, count = self.sequences[player][infoset]
            for action in range(count):
                row = np.zeros(self.counts[player])
                row[before] -= policy[action]
                row[first + action] += 1.0
                rows.append(row)
        if not rows:
            return matrix, right
        return sp.csr_array(sp.vstack([matrix, sp.csr_array(np.array(rows))])), np.append(right, np.zeros(len(rows)))

    def lock(self, random: Random, share: float) -> dict[int, dict[str, list[float]]]:
        """Fix some infosets at random, and return the table of it by player; a third of the probabilities are 0."""
        for player in range(2):
            self.fixed[player].clear()
            for infoset, (_, _, count) in enumerate(self.sequences[player]):
                if random.random() < share:
                    weights = [random.random() * (random.random() < 0.67) for _ in range(count)]
                    weights = weights if sum(weights) else [1.0] * count
                    self.fixed[player][infoset] = [weight / sum(weights) for weight in weights]
        table: dict[int, dict[str, list[float]]] = {0: {}, 1: {}}

        def visit(node, state):
            if node.actor in (0, 1) and node.infoset in self.fixed[node.actor]:
                table[node.actor][state.information_state_string()] = self.fixed[node.actor][node.infoset]
            for child, action in zip(node.children, state.legal_actions() if node.children else (), strict=True):
                visit(child, state.child(action))

        visit(self.root, pyspiel.load_game_as_turn_based(self.name).new_initial_state())
        return table


def drawn(folder, seeds):
    """Yield random games with locks: the plain game, the compiled one, and the lock's table."""
    for seed in seeds:
        theirs = LockedGame(Random(seed), depth=5)
        theirs.fixed = ({}, {})
        theirs.name = theirs.write(folder / f"game-{seed}.efg")
        lock = theirs.lock(Random(seed), share=(0.2, 0.5, 0.8)[seed % 3])
        tree = rlccfr.load_game(theirs.name)
        if not any(lock.values()):
            continue
        with suppress(PolicyError):  # where nothing is left to solve
            locked(tree, lock)
            yield theirs, tree, lock


def test_random_games_have_the_value_of_the_program_with_fixed_sequences(tmp_path):
    solved = 0
    for theirs, tree, lock in drawn(tmp_path, range(60)):
        by_program = rlccfr.solve(tree, lock=lock)
        value = theirs.value()
        assert by_program.value == pytest.approx(value, abs=1e-7), theirs.name
        assert by_program.exploitability < 1e-9
        solver = rlccfr.Solver(tree, "dcfr", lock=lock)
        solver.run(iterations=300, curve=False)
        values = solver.values()
        assert values.nash_conv >= -1e-12
        assert abs(values.game[0] - value) <= values.nash_conv + 1e-7, theirs.name
        # The policy is one of the whole game, where it is worth the same; only there may everybody respond.
        policy = solver.average_policy()
        in_the_game = policy.values()
        assert policy.game is tree
        assert in_the_game.game == pytest.approx(values.game, abs=1e-12)
        assert min(np.subtract(in_the_game.best_response, values.best_response)) >= -1e-12
        probability = dict(zip(tree.infoset_keys, np.split(policy.probabilities, tree.view.first_sequence[1:-1])))
        for name, fixed in (row for table in lock.values() for row in table.items()):
            assert probability[name] == pytest.approx(np.array(fixed), abs=1e-15)
        solved += 1
    assert solved >= 30


def test_best_responses_are_the_programs_with_fixed_sequences(tmp_path):
    for theirs, tree, lock in drawn(tmp_path, range(8)):
        plans = []
        for player in range(2):
            plan = np.zeros(theirs.counts[player])
            plan[0] = 1.0
            for infoset, (before, first, count) in enumerate(theirs.sequences[player]):
                share = theirs.fixed[player].get(infoset, [1 / count] * count)
                plan[first : first + count] = plan[before] * np.array(share)
            plans.append(plan)
        uniform = rlccfr.Policy.uniform(locked(tree, lock))
        values = uniform.values()
        assert values.game[0] == pytest.approx(plans[0] @ (theirs.payoffs() @ plans[1]), abs=1e-12)
        assert values.game == pytest.approx(uniform.unlocked().values().game, abs=1e-12)
        assert values.best_response[0] == pytest.approx(theirs.best_response(0, plans[1]), abs=1e-7)
        assert values.best_response[1] == pytest.approx(theirs.best_response(1, plans[0]), abs=1e-7)


def test_one_players_lock_makes_the_other_player_respond():
    tree = game("leduc")
    policy = random_policy(tree, 3)
    for player in (0, 1):
        solution = rlccfr.solve(tree, lock={player: policy})
        response = policy.values().best_response[1 - player]
        assert solution.value == pytest.approx(response if player == 1 else -response, abs=1e-9)
        kept = tree.sequences_of(player)
        assert solution.policy.probabilities[kept] == pytest.approx(policy.probabilities[kept], abs=1e-15)


def every_seventh(tree):
    """Return a lock on every seventh infoset, with probabilities above 0."""
    counts = np.diff(tree.view.first_sequence).tolist()
    weights = [np.arange(1.0, count + 1) for count in counts]
    return {tree.infoset_keys[place]: weights[place] / weights[place].sum() for place in range(0, len(counts), 7)}


RULES = [entry.id for entry in update_rules if not entry.id.startswith("deep_") and entry.id != "controlled"]
SAMPLERS = [
    entry.id for entry in samplers if not (entry.id.endswith("public_chance") or samplers.resolve(entry.id).learns)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "sampler", "abstraction"),
    [
        *((rule, "none", "none") for rule in RULES),
        *(("cfr_plus", sampler, "none") for sampler in SAMPLERS),
        ("cfr_plus", "none", "cfr_br"),
        ("dcfr", "external", "cfr_br"),
    ],
)
def test_every_rule_and_sampler_approaches_the_locked_games_value(rule, sampler, abstraction):
    tree = game("kuhn")
    value = rlccfr.solve(tree, lock=JACK_BLUFFS).value
    solver = rlccfr.Solver(tree, rule, sampler, abstraction, lock=JACK_BLUFFS)
    uniform = rlccfr.Policy.uniform(solver.game).exploitability()
    solver.run(iterations=20_000, curve=False)
    values = solver.values()
    assert abs(values.game[0] - value) <= values.nash_conv + 1e-9
    assert values.exploitability < (0.1 if sampler == "none" else 0.3) * uniform
    policy = solver.average_policy()
    assert policy.to_frame().query("infoset == '0'")["probability"].tolist() == [0.5, 0.5]
    assert policy.to_frame().query("infoset == '2b'")["probability"].tolist() == [0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "sampler", "abstraction"),
    [
        ("deep_cfr(preset='sweep')", "external", "none"),
        ("cfr_plus", "none", "rcfr(traversals=1)"),
        ("cfr_plus", "external", "none"),
        ("cfr_plus", "escher", "none"),
        ("controlled(controller='schedule')", "none", "none"),
        ("controlled(controller='shipped')", "none", "none"),
    ],
)
def test_models_walks_and_controllers_run_on_locked_games(rule, sampler, abstraction):
    solver = rlccfr.Solver(game("leduc"), rule, sampler, abstraction, lock=every_seventh(game("leduc")))
    uniform = rlccfr.Policy.uniform(solver.game).exploitability()
    learns = any(component.learns for component in (solver.update_rule, solver.sampler, solver.abstraction))
    solver.run(iterations=30 if learns else 3000, curve=False)
    assert solver.exploitability() < 0.7 * uniform
    fixed = solver.game.lock
    assert solver.average_policy().probabilities[fixed.entries] == pytest.approx(fixed.probabilities, abs=1e-15)


def test_blends_threads_and_a_switch_keep_the_lock():
    tree = game("leduc")
    lock = every_seventh(tree)
    blended = rlccfr.Solver(tree, "dcfr", blend=True, lock=lock)
    plain = rlccfr.Solver(tree, "dcfr", lock=lock)
    assert blended.run(iterations=300).exploitability < plain.run(iterations=300).exploitability
    threaded = rlccfr.Solver(tree, "dcfr", lock=lock, threads=2)
    threaded.run(iterations=300)
    assert np.array_equal(regrets(threaded), regrets(plain)) or not has_crew(threaded)
    plain.switch(update_rule="pcfr_plus", sampler="external")
    plain.run(iterations=1000)
    for solver in (blended, threaded, plain):
        fixed = solver.game.lock
        for policy in (solver.average_policy(), solver.current_policy()):
            assert policy.probabilities[fixed.entries] == pytest.approx(fixed.probabilities, abs=1e-15)


def test_checkpoints_pickles_and_hashes_have_the_lock(tmp_path):
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "dcfr", lock=JACK_BLUFFS)
    solver.run(iterations=50)
    solver.save(tmp_path / "run.npz")
    again = [rlccfr.Solver.load(tmp_path / "run.npz"), copy.deepcopy(solver)]
    again += [rlccfr.Solver.load(tmp_path / "run.npz", game=candidate) for candidate in (tree, solver.game)]
    assert again[-1].game is solver.game
    solver.run(iterations=50)
    for other in again:
        assert other.game.content_hash == solver.game.content_hash
        other.run(iterations=50)
        assert engine_state(other).keys() == engine_state(solver).keys()
        assert all(np.array_equal(engine_state(other)[name], array) for name, array in engine_state(solver).items())
    hashes = {tree.content_hash, solver.game.content_hash}
    hashes |= {locked(tree, {**JACK_BLUFFS, "0": share}).content_hash for share in ([0.4, 0.6], [0, 1])}
    assert len(hashes) == 4
    assert locked(tree, {"2b": [0, 1], "0": {0: 0.5, 1: 0.5}}).content_hash == solver.game.content_hash


def test_a_lock_is_read_from_tables_functions_policies_and_files(tmp_path):
    tree = game("kuhn")
    expected = locked(tree, JACK_BLUFFS).content_hash
    policy = rlccfr.Solver(tree, lock=JACK_BLUFFS).average_policy()
    frame = policy.to_frame()
    assert locked(tree, JACK_BLUFFS.get).content_hash == expected
    by_player = {0: {"0": (0.5, 0.5)}, 1: lambda name: [0, 1] if name == "2b" else None}
    assert locked(tree, by_player).content_hash == expected

    (tmp_path / "table.json").write_text(json.dumps({"0": {"0": 0.5, "1": 0.5}, "2b": {"Bet": 1}}))
    assert locked(tree, tmp_path / "table.json").content_hash == expected
    for suffix in (".csv", ".json", ".npz", ".efg"):
        path = tmp_path / f"whole{suffix}"
        policy.save(path)
        kept = locked(tree, {1: path}).lock
        assert kept.entries.tolist() == list(range(tree.sequences_of(1).start, tree.sequences_of(1).stop))
        assert kept.probabilities == pytest.approx(policy.probabilities[tree.sequences_of(1)])
    # Files of a policy at some infosets alone: rows of a table, or objects of a list, left out.
    rows = (tmp_path / "whole.csv").read_text().splitlines()
    is_kept = ["infoset", *(key if key in JACK_BLUFFS else "" for key in frame["infoset"])]
    (tmp_path / "part.csv").write_text("\n".join(row for row, kept in zip(rows, is_kept, strict=True) if kept))
    assert locked(tree, tmp_path / "part.csv").content_hash == expected
    saved = json.loads((tmp_path / "whole.json").read_text())
    saved["infosets"] = [each for each in saved["infosets"] if each["infoset"] in JACK_BLUFFS]
    (tmp_path / "part.json").write_text(json.dumps(saved))
    assert locked(tree, tmp_path / "part.json").content_hash == expected
    with pytest.raises(CheckpointError, match="must be exactly those"):  # which is no whole policy for all other uses
        rlccfr.Policy.load(tmp_path / "part.json", tree)
    assert locked(tree, None) is tree


def test_locks_in_a_list_hold_together(tmp_path):
    tree = game("kuhn")
    expected = locked(tree, JACK_BLUFFS).content_hash
    halves = [{name: policy} for name, policy in JACK_BLUFFS.items()]
    assert locked(tree, halves).content_hash == expected
    assert locked(tree, [{0: halves[0]}, tuple(halves), [JACK_BLUFFS.get]]).content_hash == expected
    assert locked(tree, {0: [halves[0], halves[0]], 1: halves[1]}).content_hash == expected
    (tmp_path / "first.json").write_text(json.dumps({"0": {"0": 0.5, "1": 0.5}}))
    (tmp_path / "other.json").write_text(json.dumps({"0": [0.25, 0.75]}))
    assert locked(tree, [tmp_path / "first.json", halves[1], halves[0]]).content_hash == expected
    for lock in ([halves[0], tmp_path / "other.json"], [tmp_path / "other.json", halves[0]]):
        with pytest.raises(
            PolicyError, match=r"twice, at '0'.* and at '0'.*, with different prob.*: keep one"
        ) as raised:
            locked(tree, lock)
        assert f"at '0' in {tmp_path / 'other.json'}" in str(raised.value)
    with pytest.raises(PolicyError, match="fixes nothing"):
        locked(tree, [])
    with pytest.raises(PolicyError, match="fixes all decisions"):
        locked(tree, [{0: rlccfr.Policy.uniform(tree)}, {1: rlccfr.Policy.uniform(tree)}])


def test_what_was_saved_under_another_lock_is_refused(tmp_path):
    first, second = ({"0b": [p, 1 - p]} for p in (1, 0))
    rlccfr.Solver(game("kuhn"), lock=first).save(tmp_path / "locked.npz")
    rlccfr.Solver(game("kuhn")).save(tmp_path / "free.npz")
    with pytest.raises(CheckpointError, match="belongs to a run with another lock"):
        rlccfr.Solver.load(tmp_path / "locked.npz", game=locked(game("kuhn"), second))
    with pytest.raises(CheckpointError, match="belongs to a run without a lock"):
        rlccfr.Solver.load(tmp_path / "free.npz", game=locked(game("kuhn"), first))


def test_a_policy_of_a_locked_game_is_saved_as_one_of_the_game(tmp_path):
    policy = rlccfr.Policy.uniform(locked(game("kuhn"), {"0b": [1, 0]}))
    policy.save(tmp_path / "policy.csv")
    assert np.array_equal(rlccfr.Policy.load(tmp_path / "policy.csv").probabilities, policy.unlocked().probabilities)


def test_moves_of_a_locked_player_are_no_cards():
    leduc = game("leduc")
    tree = locked(leduc, {1: rlccfr.Policy.uniform(leduc)})
    assert moves_before(tree) == moves_before(leduc)[: tree.num_infosets]


@pytest.mark.slow
def test_a_locked_game_keeps_what_the_game_says_of_itself():
    tree = game("royal")
    with_lock = locked(tree, {tree.infoset_keys[0]: [1.0, 0.0]})
    for name in ("name", "full_name", "restore_recall", "opponent_payoffs", "big_blind", "pot", "form"):
        assert getattr(with_lock, name) == getattr(tree, name), name
    assert tree.big_blind is not None  # so that targets may be in thousandths of it


@pytest.mark.slow
def test_infosets_that_share_a_name_are_locked_together():
    forgetful = game("royal")
    name = next(key for key in forgetful.infoset_keys if forgetful.infoset_keys.count(key) > 1)
    count = len(range(*forgetful.infoset_sequences(forgetful.infoset_keys.index(name)).indices(10**9)))
    lock = locked(forgetful, {name: np.full(count, 1 / count)}).lock
    assert lock.num_infosets == forgetful.infoset_keys.count(name)


BAD = [
    ({"3": [1, 0]}, "no infoset named '3'; `rlccfr show` lists"),
    ({"2bb": [1, 0]}, "did you mean '2b'"),
    ({"0": [0.5, 0.6]}, "must sum to 1, not to 1.1"),
    ({"0": [1.5, -0.5]}, "must be numbers from 0 to 1"),
    ({"0": [1, -0.5]}, "must be numbers from 0 to 1, not -0.5 for Bet"),
    ({"0": [True, False]}, "must be numbers from 0 to 1, not True for Pass"),
    ({"0": [float("nan"), 1]}, "must be numbers from 0 to 1, not nan for Pass"),
    ({"0": {"Bet": float("inf")}}, "must be numbers from 0 to 1, not inf for Bet"),
    ({"0": ["1", "0"]}, "must be numbers from 0 to 1, not '1' for Pass"),
    ({"0": {"Pass": {"QQ": 1}}}, "must be numbers from 0 to 1, not {'QQ': 1} for Pass"),
    ({"0": [[1, 0], [0, 1]]}, "must be numbers from 0 to 1, not [1, 0] for Pass"),
    ({"0": [1]}, "must have a probability for each action (Pass, Bet), not 1 number, [1]"),
    ({"0": (0.5, 0.25, 0.25)}, "each action (Pass, Bet), not 3 numbers, (0.5, 0.25, 0.25)"),
    ({"0": np.ones((2, 1))}, "each action (Pass, Bet), not an array of the shape (2, 1)"),
    ({"0": np.array(0.5)}, "each action (Pass, Bet), not an array of the shape ()"),
    ({"0": []}, "must have a probability for each action (Pass, Bet), not []"),
    ({"0": {}}, "must sum to 1, not to 0"),
    ({"0": 1}, "must have a probability for each action (Pass, Bet), not 1"),
    ({"0": "Bet"}, "must have a probability for each action (Pass, Bet), not 'Bet'"),
    ({"0": None}, "must have a probability for each action (Pass, Bet), not None"),
    ({"0": {"Raise": 1}}, "has the action 'Raise', but the actions are Pass, Bet"),
    ({"0": {2: 1}}, "has the action 2, but the actions are Pass, Bet"),
    ({"0": {"Pass": 0.5, 0: 0.5}}, "an action twice"),
    ({0: {"0": [1, 0]}, 1: {"0": [1, 0]}}, "of player 1 named '0'; it is the other player's"),
    ({2: {"0": [1, 0]}}, "or the players 0 and 1, not 2"),
    ({0: {0: {"0": [1, 0]}}}, "the keys of player 0's lock must be names of decisions, not 0"),
    ({"0": [1, 0], 0: {"0": [0, 1]}}, "fixes an infoset twice, at '0', with different probabilities"),
    ({(0, "0"): [1, 0]}, "the keys of a lock must be names of decisions, or the players 0 and 1, not (0, '0')"),
    ({0: [1, 0]}, "or a list of these, not 1"),
    ([{"0": [1, 0]}, 0.5], "or a list of these, not 0.5"),
    ({}, "fixes nothing"),
    (lambda name: None, "fixes nothing"),
    (lambda name: [0.5, 0.5], "fixes all decisions"),
    (0.5, "a lock must be a policy, a table, a function, a file"),
    ([[1, 0]], "a lock must be a policy, a table, a function, a file"),
    ("lock.txt", "a policy's file ends with"),
    ("missing.json", "can't read the lock missing.json"),
    ("missing.npz", "can't read missing.npz"),
]


@pytest.mark.parametrize(("lock", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_no_lock_is_refused_in_one_line(lock, message):
    for refused in (lambda: rlccfr.Solver(game("kuhn"), lock=lock), lambda: rlccfr.solve(game("kuhn"), lock=lock)):
        with pytest.raises((PolicyError, rlccfr.RLCCFRError), match=re.escape(message)) as raised:
            refused()
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 1000


def test_files_and_policies_that_do_not_fit_are_refused(tmp_path):
    tree = game("kuhn")
    uniform = rlccfr.Policy.uniform(tree)
    with pytest.raises(PolicyError, match=r"lock=\{0: ...\}"):
        locked(tree, uniform)
    with pytest.raises(PolicyError, match="the lock is a policy of 'leduc'"):
        locked(tree, {0: rlccfr.Policy.uniform(game("leduc"))})
    with pytest.raises(PolicyError, match="already has a lock"):
        rlccfr.Solver(locked(tree, JACK_BLUFFS), lock=JACK_BLUFFS)
    for text, message in (("{", "not a JSON table"), ("[1]", "must contain an object"), ("", "not a JSON table")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(PolicyError, match=message):
            locked(tree, tmp_path / "bad.json")
    for table, message in BAD:
        if not isinstance(table, dict) or not all(isinstance(name, str) for name in table):
            continue
        try:
            text = json.dumps(table)
        except TypeError:  # an array
            continue
        if json.loads(text) == table:
            (tmp_path / "bad.json").write_text(text)
            with pytest.raises(PolicyError, match=re.escape(message)) as raised:
                locked(tree, tmp_path / "bad.json")
            assert str(raised.value).startswith(f"{tmp_path / 'bad.json'}: ") or table == {}
    (tmp_path / "twice.json").write_text('{"0": [1, 0], "0": [0, 1]}')
    with pytest.raises(PolicyError, match="the key '0' is repeated"):
        locked(tree, tmp_path / "twice.json")
    rlccfr.Policy.uniform(game("leduc")).save(tmp_path / "leduc.csv")
    with pytest.raises(CheckpointError, match="is a policy of 'leduc', not of 'kuhn'"):
        locked(tree, tmp_path / "leduc.csv")
    with pytest.raises(TypeError, match="load_game"):
        rlccfr.Solver("kuhn", lock=JACK_BLUFFS)


def test_names_of_both_players_need_a_player(tmp_path):
    """In this game, neither player knows anything, and the file gives both infosets one name."""
    ends = [f't "" {number} "" {{ {payoff} {-payoff} }}' for number, payoff in enumerate((1, -1, -1, 1), 1)]
    second = ['p "" 2 1 "same" { "l" "r" } 0', ends[0], ends[1], 'p "" 2 1 "same" { "l" "r" } 0', ends[2], ends[3]]
    first = ['EFG 2 R "same" { "0" "1" } ""', 'p "" 1 1 "same" { "L" "R" } 0']
    (tmp_path / "same.efg").write_text("\n".join([*first, *second]))
    tree = rlccfr.load_game(tmp_path / "same.efg")
    if len(set(tree.infoset_keys)) == 1:
        with pytest.raises(PolicyError, match="both players"):
            locked(tree, {tree.infoset_keys[0]: [1, 0]})
    solution = rlccfr.solve(tree, lock={0: {tree.infoset_keys[0]: {"L": 1}}})
    assert solution.value == -1


def test_a_form_without_locks_says_so():
    from examples.own_form import MatrixGame

    with pytest.raises(GameError, match="does not support locks"):
        rlccfr.Solver(MatrixGame("pennies", np.eye(2)), lock={"0": [1, 0]})


def test_a_lock_under_which_no_free_decision_is_reached_leaves_nothing():
    table = {key: [1, 0] for key in ("0", "1", "2", "0p", "1p", "2p")}
    with pytest.raises(PolicyError, match="nothing is left to solve"):
        locked(game("kuhn"), table)


def first_bets(name):
    """Return a lock of player 0's first decision in Leduc poker with all cards, a public node."""
    return [0.25, 0.75] if "[Player: 0]" in name and "[Round1: ][Round2: ]" in name else None


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["public_chance", "opponent_public_chance", "self_public_chance"])
def test_draws_of_public_chance_need_locks_of_whole_public_nodes(sampler):
    """A locked node is then one of public chance, whose outcomes depend on what its player holds."""
    tree = game("leduc")
    solver = rlccfr.Solver(tree, "cfr_plus", sampler, lock=first_bets)
    solver.run(iterations=20_000, curve=False)
    values = solver.values()
    assert values.exploitability < 0.05 * rlccfr.Policy.uniform(solver.game).exploitability()
    assert abs(values.game[0] - rlccfr.solve(tree, lock=first_bets).value) <= values.nash_conv
    with pytest.raises(ComponentError, match="only some private states of a public node"):
        rlccfr.Solver(tree, "cfr_plus", sampler, lock=every_seventh(tree))


def test_buckets_of_hands_are_those_of_the_game_without_the_lock():
    """A lock's moves of chance are no round of the game, so hands are as strong as before."""
    tree = game("leduc")
    lock = {tree.infoset_keys[0]: [0.5, 0.5]}
    for abstraction in ("equity(buckets=2)", "kmeans(buckets=2)"):
        buckets = abstractions.resolve(abstraction).buckets
        assert buckets is not None
        tree_with_lock = locked(tree, lock)
        names = dict(zip(tree.infoset_keys, buckets(tree), strict=True))
        expected = [names[key] for key in tree_with_lock.infoset_keys]
        assert buckets(tree_with_lock).tolist() == expected
        with pytest.raises(ComponentError, match="different earlier moves"):  # of which only one has met the lock
            rlccfr.Solver(tree, "cfr", abstraction=abstraction, lock=lock)
        solver = rlccfr.Solver(tree, "dcfr", abstraction=abstraction, lock=first_bets)
        solver.run(iterations=500, curve=False)
        assert solver.exploitability() < 0.5 * rlccfr.Policy.uniform(solver.game).exploitability()


def test_an_openspiel_policy_of_a_locked_game_follows_the_lock():
    locked_game = locked(game("kuhn"), {"0": {"1": 1.0}, "1b": [1, 0]})
    policy = rlccfr.Policy.uniform(locked_game)
    start = pyspiel.load_game("kuhn_poker").new_initial_state()
    assert policy_value(start, [policy.to_openspiel()] * 2) == pytest.approx(policy.values().game)
