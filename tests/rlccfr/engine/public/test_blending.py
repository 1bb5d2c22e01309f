"""Blends over public trees: against the compiled games' blends, and what becomes of them in runs of all kinds."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from public_games import derived_game
from support import (
    CORES,
    SMALL_DICE,
    blender_of,
    engine_state,
    finish,
    game,
    iterate,
    public_sums,
    run_part,
    sums_on_public_tree,
    tell_blender,
)

import rlccfr
from rlccfr.engine import blending
from rlccfr.engine.blending import SHARE, WINDOWS, Blender
from rlccfr.engine.public import evaluation, mixer
from rlccfr.engine.public.evaluation import public_values
from rlccfr.engine.public.mixer import PublicMixer
from rlccfr.errors import ComponentError
from rlccfr.kernels.public.sweep import WRITE_PAYOFFS

HOLDEM = "holdem(ranks=4,suits=2,private=2,flop=2)"
SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"
SINGLE = {"dtype": "float32"}
ITERATIONS = 60


@pytest.fixture
def same_effort(monkeypatch):
    """Let both forms of a game cut as many windows, and search for as long."""
    monkeypatch.setattr(blending, "windows_for", lambda *_: WINDOWS[-1])
    monkeypatch.setattr(PublicMixer, "most_tries", lambda _, count, nanoseconds: blending.tries_for(count))


@pytest.mark.usefixtures("same_effort")
@pytest.mark.parametrize("rule", ["cfr", "dcfr", "pdcfr_plus"])
@pytest.mark.parametrize("name", ["kuhn(cards=6)", SMALL_DICE, "leduc(ranks=4,suits=2,raises=1)"])
def test_blends_are_those_of_the_compiled_game(name, rule):
    """Both forms get the same policy sums, since ties that rounding breaks let iterates differ."""
    tree = game(name)
    public = derived_game(tree.openspiel_name)
    theirs = rlccfr.Solver(tree, rule, reduce=False, blend=True)
    average = rlccfr.Solver(tree, rule, reduce=False)
    ours = Blender(PublicMixer(public.public, np.dtype(float), None), 0, np.zeros(tree.num_sequences))
    for done in range(1, ITERATIONS + 1):
        run_part(theirs, done, ITERATIONS)
        tell_blender(ours, theirs, ITERATIONS, public.sequence)
    sums = sums_on_public_tree(theirs, public.sequence)
    ours.make_blends(ITERATIONS, sums)
    finish(theirs)
    average.run(iterations=ITERATIONS, curve=False)
    found = public_values(public.public, ours.better(ITERATIONS, sums))
    expected = theirs.values()
    assert found == pytest.approx((expected.game[0], *expected.best_response), abs=1e-9)
    assert (found[1] + found[2]) / 2 < 0.9 * average.exploitability()


@pytest.mark.usefixtures("same_effort")
@pytest.mark.parametrize("name", ["kuhn", "random_poker(seed=1,hands=3,boards=1,raises=1)"])
def test_runs_end_with_the_blends_of_the_compiled_game(name):
    tree = game(name)
    public = derived_game(tree.openspiel_name)
    ours = rlccfr.Solver(public.public, "dcfr", blend=True)
    theirs = rlccfr.Solver(tree, "dcfr", reduce=False, blend=True)
    for solver in (ours, theirs):
        solver.run(iterations=100, curve=False)
    assert ours.values().game == pytest.approx(theirs.values().game, abs=1e-9)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-9)


def plans_of(tree, dtype, count: int) -> tuple[PublicMixer, np.ndarray]:
    """Return a mixer, and the plans of some policies of a run, (count, m)."""
    own = PublicMixer(tree, np.dtype(dtype), None)
    plans = np.zeros((count, own.size), own.dtype)
    solver = rlccfr.Solver(tree, "cfr", dtype=dtype)
    for plan in plans:
        solver.run(iterations=2, curve=False)
        own.fill_plan(public_sums(solver), plan)
    return own, plans


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [HOLDEM, "holdem(ranks=3,suits=2,private=1,flop=1,rounds=3)", "bluff"])
def test_a_cut_is_tight_at_its_mixture_and_a_bound_elsewhere(name, dtype):
    tree = rlccfr.load_game(name)
    own, plans = plans_of(tree, dtype, 4)
    rng = np.random.default_rng(1)
    shift = 0.25
    respond = own.responder(plans, shift)
    rounding = 1e-12 if dtype == "float64" else 1e-4
    for player in range(2):
        opponent = 1 - player
        sign = 1 if player == 0 else -1
        for _ in range(3):
            weights = rng.dirichlet(np.ones(4))
            cut = np.zeros(4)
            value = respond(player, weights, cut)
            # A mixture of plans is a policy: the one that is proportional to it.
            sums = np.einsum("k,km->m", weights, plans.astype(float)).astype(dtype)
            expected = public_values(tree, sums)[1 + opponent] + sign * shift
            assert value == pytest.approx(expected, abs=rounding)
            assert cut @ weights == pytest.approx(value, abs=rounding)
            for number, plan in enumerate(plans):
                best = public_values(tree, plan)[1 + opponent] + sign * shift
                assert cut[number] <= best + rounding


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["cfr", "dcfr_plus", "pcfr_plus"])
@pytest.mark.parametrize(
    ("name", "options"), [(HOLDEM, {}), (HOLDEM, SINGLE), (SMALL, {"abstraction": "cfr_br"}), ("bluff", {})]
)
def test_a_blend_is_less_exploitable_than_the_average_of_the_same_run(name, options, rule):
    tree = rlccfr.load_game(name)
    plain = rlccfr.Solver(tree, rule, **options)
    blended = rlccfr.Solver(tree, rule, blend=True, **options)
    plain.run(iterations=400, curve=False)
    result = blended.run(iterations=400, curve=False)
    assert np.array_equal(public_sums(plain), public_sums(blended))
    assert result.exploitability < plain.exploitability()
    assert blended.average_policy().exploitability() == pytest.approx(result.exploitability, rel=1e-6, abs=1e-6)
    assert 0 < blended.blending_seconds < result.cpu_seconds
    assert plain.blending_seconds == 0


def test_blends_of_any_budget_are_no_worse_than_the_average():
    tree = rlccfr.load_game(SMALL)
    for budget in ({"iterations": 1}, {"iterations": 30}, {"iterations": 60}, {"nodes": 10**6}, {"seconds": 0.05}):
        solver = rlccfr.Solver(tree, "dcfr", blend=True)
        result = solver.run(**budget, curve=False)
        plain = rlccfr.Solver(tree, "dcfr")
        plain.run(iterations=result.iterations, curve=False)
        assert solver.exploitability() <= plain.exploitability(), budget


def test_a_search_takes_at_most_a_fifth_of_the_predicted_time():
    tree = rlccfr.load_game(SMALL)
    for iterations in (20, 100, 1000):
        solver = rlccfr.Solver(tree, "dcfr", blend=True)
        solver.run(iterations=iterations, curve=False)
        blender = blender_of(solver)
        assert blender._search_time <= SHARE * iterations * blender._mixer.iteration_time, iterations


def test_a_longer_run_keeps_the_blend_until_it_has_a_better_one():
    solver = rlccfr.Solver(rlccfr.load_game(SMALL), "dcfr", blend=True)
    first = solver.run(iterations=200, curve=False).exploitability
    assert solver.run(iterations=1, curve=False).exploitability <= first
    assert solver.run(iterations=600, curve=False).exploitability < first / 2


def test_no_policies_are_measured_twice(monkeypatch):
    tree = rlccfr.load_game(SMALL)
    solver = rlccfr.Solver(tree, "dcfr", blend=True)
    passes = Counter()
    root_value = evaluation.root_value

    def counted(game, player, policy_source, tables, mode, crew):
        if mode != WRITE_PAYOFFS:  # which is the search's own
            passes[mode, player, policy_source.tobytes()] += 1
        return root_value(game, player, policy_source, tables, mode, crew)

    looks = []
    with monkeypatch.context() as context:
        context.setattr(evaluation, "root_value", counted)
        for iterations in (200, 1, 1, 30, 600):
            solver.run(iterations=iterations)
            looks.append((solver.values(), solver.average_policy().table))
            iterate(solver, 1)  # no blend ends it
            looks.append((solver.values(), solver.average_policy().table))
    assert len(passes) > 3 * 2 * 5
    assert max(passes.values()) == 1
    for values, table in looks:
        assert (values.game[0], *values.best_response) == public_values(tree, table)


@pytest.mark.skipif(CORES < 2, reason="there is one core")
def test_threads_leave_bitwise_the_same():
    tree = rlccfr.load_game(HOLDEM)
    one, two = (rlccfr.Solver(tree, "dcfr", threads=threads, blend=True) for threads in (1, 2))
    results = [solver.run(iterations=100, curve=False) for solver in (one, two)]
    assert results[0].exploitability == results[1].exploitability
    for name, array in engine_state(one).items():
        assert np.array_equal(array, engine_state(two)[name]), name


def test_a_run_to_a_target_ends_sooner_and_resumes_bitwise(tmp_path):
    tree = rlccfr.load_game(SMALL)
    plain = rlccfr.Solver(tree, "dcfr").run(until="1e-4x", curve=False)
    whole = rlccfr.Solver(tree, "dcfr", blend=True)
    result = whole.run(until="1e-4x", curve=False)
    assert result.reached
    assert result.iterations < 0.8 * plain.iterations
    parts = rlccfr.Solver(tree, "dcfr", blend=True)
    parts.run(until="1e-4x", curve=False, stop=lambda: parts.result().iterations > result.iterations // 2)
    assert parts.result().iterations < result.iterations
    parts.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert loaded.blending_seconds == parts.blending_seconds
    results = [solver.run(until="1e-4x", curve=False) for solver in (parts, loaded)]
    assert results[0].iterations == results[1].iterations
    for name, array in engine_state(parts).items():
        assert np.array_equal(array, engine_state(loaded)[name]), name


def test_a_target_out_of_the_blends_reach_ends_the_search(monkeypatch):
    """The bound below which no blend can come tells it, which saves most of the time of a try in vain."""
    values = []
    improve = blending.improve

    def counted(blend, player, value):
        values.append(value)
        improve(blend, player, value)

    monkeypatch.setattr(blending, "improve", counted)
    numbers = []
    for target in (None, 1e-9, 1.0):
        values.clear()
        solver = rlccfr.Solver(rlccfr.load_game(SMALL), "dcfr", blend=True)
        run_part(solver, 400, 400)
        blender_of(solver).make_blends(400, public_sums(solver), target)
        numbers.append(len(values))
    assert numbers[0] > numbers[1] > numbers[2] == 2


def test_what_does_not_fit_into_memory_is_left_out_with_a_line(monkeypatch):
    tree = rlccfr.load_game(SMALL)
    assert rlccfr.Solver(tree, "dcfr").notice == ""
    assert rlccfr.Solver(tree, "dcfr", blend=True).notice.startswith("blends use up to ")
    bytes_left = mixer.bytes_of_blends(tree, tree.dtype, WINDOWS[-1]) + 2 * tree.dtype.itemsize * tree.num_sequences
    monkeypatch.setattr(mixer, "available_memory", lambda: bytes_left)
    solver = rlccfr.Solver(tree, "dcfr", blend=True)
    assert "blends use up to" in solver.notice
    solver.run(iterations=3000, curve=False)
    assert blender_of(solver).windows == WINDOWS[-1]
    monkeypatch.setattr(mixer, "available_memory", lambda: bytes_left - 1)
    with pytest.warns(RuntimeWarning, match="runs without blends: they need .* are available"):
        solver = rlccfr.Solver(tree, "dcfr", blend=True)
    plain = rlccfr.Solver(tree, "dcfr")
    results = [one.run(iterations=100).exploitability for one in (solver, plain)]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("dcfr", "public_chance"), "blends need exact passes"),
        (("dcfr", "none", "equity(buckets=2,respond=True)"), "there are no blends"),
        (("dcfr", "none", "equity(buckets=2)"), "with buckets, blends can be more exploitable in .* than the average"),
    ],
)
def test_what_can_not_blend_is_refused(parts, message):
    with pytest.raises(ComponentError, match=message):
        rlccfr.Solver(rlccfr.load_game(HOLDEM), *parts, blend=True)


@pytest.mark.parametrize("is_saved_with_blends", [False, True])
def test_a_saved_run_goes_on_where_blends_fit_or_no_longer_fit(monkeypatch, tmp_path, is_saved_with_blends):
    """The machine that goes on may have more memory, or less, than the one on which the run was saved."""

    def give_memory(is_enough: bool) -> None:
        monkeypatch.setattr(mixer, "available_memory", lambda: None if is_enough else 0)

    tree = rlccfr.load_game(SMALL)
    give_memory(is_saved_with_blends)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = rlccfr.Solver(tree, "dcfr", blend=True)
        solver.run(iterations=100, curve=False)
        solver.save(tmp_path / "run.npz")
        give_memory(not is_saved_with_blends)
        again = rlccfr.Solver.load(tmp_path / "run.npz")
    again.run(iterations=900, curve=False)
    assert again.blends != is_saved_with_blends
    plain = rlccfr.Solver(tree, "dcfr")
    least = plain.run(iterations=1000, curve=False).exploitability
    assert (again.exploitability() < least) == again.blends
