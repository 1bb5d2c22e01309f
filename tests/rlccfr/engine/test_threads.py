"""Passes by several threads, against passes by one, which also go over infosets."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from random_games import RandomGame
from support import CORES, game, has_crew, policy_sums, regrets, without_bundles

import rlccfr
from rlccfr.engine import reduced, threads
from rlccfr.engine.threads import divided
from rlccfr.games.quotient import quotient_of
from rlccfr.registry import update_rules

RULES = [entry.id for entry in update_rules if not entry.id.startswith("deep_") and entry.make().regularise is None]
"""Tabular rules that several threads may run."""
GAMES = ("goofspiel", "leduc", "liars_dice(numdice=1,dice_sides=3)")
BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)"
UNIVERSAL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1)"
)

pytestmark = pytest.mark.skipif(CORES < 2, reason="there is one core")


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    """Let threads share games of any size, and one thread pass over infosets as they do."""
    monkeypatch.setattr(threads, "LEAST_COST", 0.0)
    without_bundles(monkeypatch)


def assert_same(tree, iterations=3, **options):
    """Check that two threads leave bitwise the tables that one leaves."""
    one, two = (rlccfr.Solver(tree, threads=count, **options) for count in (1, 2))
    assert has_crew(two)
    for solver in (one, two):
        solver.run(iterations=iterations, curve=False)
    for table in (regrets, policy_sums, lambda solver: solver.current_policy().probabilities):
        assert np.array_equal(table(one), table(two))
    results = [replace(solver.result(), cpu_seconds=0.0, points=()) for solver in (one, two)]
    assert results[0] == results[1]
    assert one.points[-1].exploitability_current == two.points[-1].exploitability_current


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_gives_the_same_tables(rule):
    assert_same(game("leduc"), update_rule=rule)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("options", [{}, {"simultaneous": True}, {"averaging": "pre"}, {"reduce": False}])
def test_every_order_of_updates_gives_the_same_tables(name, options):
    assert_same(game(name), update_rule="dcfr", **options)


def test_random_games_give_the_same_tables(tmp_path):
    for seed in range(10):
        tree = rlccfr.load_game(RandomGame(Random(seed), depth=6).write(tmp_path / f"{seed}.efg"))
        assert_same(tree, update_rule="pcfr_plus")


@pytest.mark.slow
def test_royal_gives_the_same_tables():
    assert_same(game("royal"), update_rule="pcfr_plus", reduce=False)


@pytest.mark.parametrize("name", [BATTLESHIP, "dark_hex(board_size=2)"])
def test_quotients_with_twins_give_the_same_tables(name, monkeypatch):
    monkeypatch.setattr(reduced, "LEAST_GAIN", 0.0)
    assert len(quotient_of(game(name)).view.twin)
    assert_same(game(name), update_rule="dcfr")


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("name", [*GAMES, "kuhn"])
def test_each_thread_has_its_infosets_and_blocks_one_after_another(name, count):
    """The shares are ranges of infosets in the division's order."""
    tree = game(name)
    division = divided(tree, count)
    shares, order = division.shares(tree, count), division.order
    thread, at_cut, blocks = division.infosets[order], division.at_cut[order], np.sort(division.blocks)
    for player in (0, 1):
        players = np.arange(tree.num_infosets)[tree.infosets_of(player)]
        assert np.array_equal(order[players], players[np.argsort(division.infosets[players], kind="stable")])
        begin, end = shares[0].top[player]
        assert np.array_equal(np.arange(begin, end), players[thread[players] == -1])
        cut = (shares[0].cut_0, shares[0].cut_1)[player]
        assert np.array_equal(order[cut], players[division.at_cut[players]][::-1])
        for share in shares:
            begin, below, end = share.infosets[player]
            assert np.array_equal(np.arange(begin, end), players[thread[players] == share.thread])
            assert at_cut[begin:below].all()
            assert not at_cut[below:end].any()
    for share in shares:
        assert (blocks[slice(*share.blocks)] == share.thread).all()
    assert sum(end - begin for begin, end in (share.blocks for share in shares)) == len(tree.view.blocks_0)


@pytest.mark.parametrize("name", [*GAMES, "universal", pytest.param("royal", marks=pytest.mark.slow)])
def test_a_thread_reads_only_its_own_work_and_what_is_above_the_cut(name):
    tree = game(UNIVERSAL if name == "universal" else name)
    view, size, division = tree.view, tree.num_sequences, divided(tree, 2)
    thread = np.append(division.infosets, [-1, -1])  # the empty sequences count as above the cut
    of_block = division.blocks
    of_sequence = thread[np.append(tree.owner, [-2, -1])]
    payers = {}
    for blocks, leaf in ((view.blocks_0, view.leaf_0), (view.blocks_1, view.leaf_1)):
        for b, block in enumerate(blocks):
            for sequence in leaf[block["own"] : block["own_end"]]:
                assert of_sequence[sequence] in (-1, of_block[b])
                payers.setdefault(int(sequence), set()).add(of_block[b])
    assert all(len(found) == 1 for found in payers.values())  # also above the cut, since sums have one order
    for i in range(tree.num_infosets):
        parent = int(view.parent[i])
        assert parent >= size or of_sequence[parent] in (-1, thread[i])
        if thread[i] >= 0:
            met = view.mass_sequence[view.mass_begin[i] : view.mass_begin[i + 1]].astype(int)
            assert set(of_sequence[met]) <= {-1, thread[i]}


@pytest.mark.slow
def test_royal_is_divided_evenly():
    tree = game("royal")
    assert np.bincount(divided(tree, 2).infosets + 1, minlength=3)[1:].min() > 0.45 * tree.num_infosets


def test_a_saved_run_goes_on_with_other_threads(tmp_path):
    whole, cut = rlccfr.Solver(game("leduc"), "dcfr"), rlccfr.Solver(game("leduc"), "dcfr")
    whole.run(iterations=6, curve=False)
    cut.run(iterations=3, curve=False)
    cut.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz", threads=2)
    loaded.run(iterations=3, curve=False)
    assert np.array_equal(regrets(loaded), regrets(whole))


def test_one_thread_runs_short_iterations_and_best_responses(monkeypatch):
    assert not has_crew(rlccfr.Solver(game("leduc"), abstraction="cfr_br", threads=2))
    monkeypatch.undo()
    assert not has_crew(rlccfr.Solver(game("leduc"), threads=2))


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_threads_are_a_positive_integer(count):
    with pytest.raises(rlccfr.ComponentError, match="threads must be a positive integer"):
        rlccfr.Solver(game("kuhn"), threads=count)


def test_more_threads_than_cores_are_refused():
    with pytest.raises(rlccfr.ComponentError, match=f"threads must be at most {CORES}, the number of cores"):
        rlccfr.Solver(game("kuhn"), threads=CORES + 1)


@pytest.mark.parametrize("components", [{"update_rule": "dcfr"}, {"control": "shipped"}])
def test_blends_are_the_same_and_are_saved(components, tmp_path):
    path, found = tmp_path / "run.npz", []
    for count in (1, 2):
        solver = rlccfr.Solver(game("leduc"), **components, threads=count, reduce=False, blend=True)
        solver.run(iterations=40, curve=False)
        solver.save(path)
        loaded = rlccfr.Solver.load(path, threads=3 - count)
        assert loaded.exploitability() == solver.exploitability()
        found.append(loaded.run(iterations=40, curve=False).exploitability)
    assert found[0] == found[1]
