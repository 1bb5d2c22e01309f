"""Passes over bundles by several threads, against passes by one."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from random_games import RandomGame
from support import CORES, game, has_crew, is_bundled, policy_sums, regrets

import rlccfr
from rlccfr.engine import bundled, bundled_threads
from rlccfr.engine.bundled_threads import divided_bundles
from rlccfr.games import bundles
from rlccfr.games.bundles import bundles_of
from rlccfr.games.records import BUNDLE_LANES

GAMES = ("leduc", "royal", "liars_dice(numdice=1,dice_sides=4)", "leduc(ranks=13,suits=2,raises=1)")
WITH_MOMENTUM = "scheduled(momentum=0.3,memory=0.5,power=1.5,optimism=0.2)"
ORDERS = ({}, {"simultaneous": True}, {"averaging": "pre"}, {"simultaneous": True, "averaging": "pre"})

HELPERS = Path(__file__).parents[2] / "helpers"
needs_two_cores = pytest.mark.skipif(CORES < 2, reason="there is one core")


@pytest.fixture
def shared(monkeypatch):
    """Let threads share passes over bundles of any size, and whatever they gain."""
    monkeypatch.setattr(bundled, "LEAST_SHARED_COST", 0.0)
    monkeypatch.setattr(bundled, "LEAST_GAIN", 0.0)


def assert_same(tree, iterations=5, **options):
    """Check that two threads leave bitwise the tables that one leaves."""
    one, two = (rlccfr.Solver(tree, threads=count, **options) for count in (1, 2))
    assert is_bundled(one)
    assert is_bundled(two)
    assert has_crew(two)
    for solver in (one, two):
        solver.run(iterations=iterations, curve=False)
    for table in (regrets, policy_sums, lambda solver: solver.current_policy().probabilities):
        assert np.array_equal(table(one), table(two))
    assert one.exploitability() == two.exploitability()
    assert one.result().nodes_touched == two.result().nodes_touched


@pytest.mark.slow
@needs_two_cores
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", ["cfr_plus", "pcfr_plus", WITH_MOMENTUM])
def test_every_order_of_updates_gives_the_same_tables(name, order, rule, shared):
    assert_same(game(name), update_rule=rule, **order)


@needs_two_cores
def test_every_cut_gives_the_same_tables(shared, monkeypatch):
    """Also cuts with an empty top, and cuts that leave a thread without bundles."""
    tree = game("leduc")
    cut = bundles_of(tree)
    deepest = int(cut.level.max())
    time = bundled_threads._bundle_times(cut)
    links = bundled_threads._payoff_links(cut)
    for levels in product(range(deepest + 1), repeat=2):
        division = bundled_threads._divided_at(cut, time, links, levels, 2)
        monkeypatch.setattr(bundled_threads, "divided_bundles", lambda *_, division=division: division)
        assert_same(tree, update_rule="pcfr_plus", reduce=False)


@needs_two_cores
def test_a_schedule_makes_the_same_decisions_and_looks(shared):
    assert_same(game("liars_dice(numdice=1,dice_sides=4)"), iterations=400, control="schedule")


@needs_two_cores
@pytest.mark.parametrize("reduce", [False, True])
def test_runs_over_quotients_and_whole_games_give_the_same_tables(reduce, shared):
    assert_same(game("leduc"), update_rule="dcfr", reduce=reduce)


@needs_two_cores
def test_random_games_give_the_same_tables(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "LEAST_FILL", 0.0)
    for seed in range(20):
        tree = rlccfr.load_game(RandomGame(Random(seed), depth=6).write(tmp_path / f"{seed}.efg"))
        if tree.num_infosets and tree.utility_range:
            assert_same(tree, update_rule="pcfr_plus")


@needs_two_cores
@pytest.mark.parametrize("components", [{"update_rule": "dcfr"}, {"control": "schedule"}])
def test_blends_are_the_same_and_a_saved_run_goes_on_with_other_threads(components, shared, tmp_path):
    path = tmp_path / "run.npz"
    exploitabilities = []
    for count in (1, 2):
        solver = rlccfr.Solver(game("leduc"), **components, threads=count, blend=True)
        assert is_bundled(solver)
        assert has_crew(solver) == (count == 2)
        solver.run(iterations=60, curve=False)
        solver.save(path)
        loaded = rlccfr.Solver.load(path, threads=3 - count)
        assert has_crew(loaded) == (count == 1)
        assert loaded.exploitability() == solver.exploitability()
        exploitabilities.append(loaded.run(iterations=60, curve=False).exploitability)
    assert exploitabilities[0] == exploitabilities[1]


INTERRUPTED = """
import os, signal
from concurrent.futures import ThreadPoolExecutor
from rlccfr import Solver, load_game
from rlccfr.engine import bundled
from support import has_crew
bundled.LEAST_SHARED_COST = 0.0
solver = Solver(load_game("leduc"), "dcfr", threads=2)
assert has_crew(solver)
submit = ThreadPoolExecutor.submit
def interrupted(*arguments):
    future = submit(*arguments)
    os.kill(os.getpid(), signal.SIGINT)
    return future
ThreadPoolExecutor.submit = interrupted
try:
    solver.run(iterations=100, curve=False)
except KeyboardInterrupt:
    print("interrupted")
"""


@needs_two_cores
def test_ctrl_c_leaves_no_thread_waiting_for_one_that_never_comes():
    command = [sys.executable, "-c", INTERRUPTED]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=HELPERS)
    assert ended.stdout == "interrupted\n"


@needs_two_cores
def test_short_iterations_have_one_thread():
    short, long = (rlccfr.Solver(game(name), "dcfr", threads=2) for name in ("leduc", "royal"))
    assert is_bundled(short)
    assert is_bundled(long)
    assert not has_crew(short)
    assert has_crew(long)


@needs_two_cores
def test_work_that_cannot_be_divided_has_one_thread(monkeypatch):
    """A matrix game has one infoset of each player, and so one bundle."""
    monkeypatch.setattr(bundled, "LEAST_SHARED_COST", 0.0)
    monkeypatch.setattr(bundles, "LEAST_FILL", 0.0)
    solver = rlccfr.Solver(rlccfr.matrix_game(np.random.default_rng(1).normal(size=(20, 20))), "dcfr", threads=2)
    assert is_bundled(solver)
    assert not has_crew(solver)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("name", [*GAMES, "kuhn"])
def test_each_bundle_has_one_thread_which_has_all_that_it_reads(name, count):
    """Below the cuts, a thread reads its own bundles and those above the cuts; see the kernel."""
    cut = bundles_of(game(name))
    view = cut.view
    shares = divided_bundles(cut, count).shares(cut, count)
    thread = np.full(len(cut.level), -2)
    for player in (0, 1):
        top = (shares[0].top_0, shares[0].top_1)[player]
        thread[top[top[:, 1] == 0, 0]] = -1
        subtrees = [tuple(row) for share in shares for row in (share.subtrees_0, share.subtrees_1)[player]]
        assert sorted(subtrees) == [tuple(row) for row in top if row[1]]
        for share in shares:
            for begin, end in (share.subtrees_0, share.subtrees_1)[player]:
                assert (thread[begin:end] == -2).all()
                thread[begin:end] = share.thread
    assert (thread >= -1).all()
    bundle_of_entry = np.searchsorted(view.first, np.arange(cut.num_entries), side="right") - 1
    for bundle in np.flatnonzero(thread >= 0):
        if view.parent[bundle] < cut.num_entries:
            assert thread[bundle_of_entry[view.parent[bundle]]] in (-1, thread[bundle])
        first_action = view.first[bundle] // BUNDLE_LANES
        begin, end = view.lines_begin[first_action], view.lines_begin[first_action + view.actions[bundle]]
        for lines in view.lines[begin:end]:
            entries = np.arange(lines["opponent"], lines["opponent"] + lines["lines"])
            if lines["listed"]:
                entries = view.line_entry[entries].astype(np.int64)
            read = bundle_of_entry[entries[entries < cut.num_entries]]
            assert np.isin(thread[read], [-1, thread[bundle]]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["royal", "liars_dice(numdice=1)"])
def test_large_games_are_divided_evenly(name):
    cut = bundles_of(game(name))
    one, two = (divided_bundles(cut, count).time for count in (1, 2))
    assert two < 0.55 * one
