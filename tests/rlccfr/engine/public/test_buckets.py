"""Runs over buckets of a public tree's hands."""

from __future__ import annotations

import numpy as np
import pytest
from public_games import keys_of, openspiel_form, openspiel_keys
from support import engine_state, game, place, place_public

import rlccfr
from rlccfr.components import Abstraction
from rlccfr.engine.responding import FlatResponses, PublicResponses
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError
from rlccfr.games.merging.cache import merged_game
from rlccfr.games.merging.percentiles import equity_buckets
from rlccfr.kernels.public.buckets import expand

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

# Over games that are compiled history by history, tests/rlccfr/engine/test_buckets.py has the same tests.
SMALL = "ranks=4,suits=2,private=2,flop=2"
NAME = f"holdem({SMALL})"


def run(parts, iterations=100, **options):
    solver = rlccfr.Solver(rlccfr.load_game(NAME), *parts, seed=3, **options)
    return solver, solver.run(iterations=iterations)


def sequences_of(merged):
    """Return for each table entry of a public-tree game the sequence of its bucket, (m,)."""
    numbers, found = np.arange(merged.tree.num_sequences, dtype=float), np.zeros(merged.whole.num_sequences)
    expand(merged.whole.view, merged.place, merged.first, merged.bucket, numbers, found)
    return found.astype(np.int64)


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "pdcfr_plus"])
def test_a_bucket_for_each_hand_runs_as_the_game_does(rule):
    """From regrets without ties, at which rounding would decide."""
    each, public = Abstraction(buckets=lambda one: np.arange(len(one.view.above))), rlccfr.load_game(NAME)
    ours, theirs = rlccfr.Solver(public, rule, abstraction=each), rlccfr.Solver(public, rule)
    merged = merged_game(public, each.buckets, each.key)
    rng, entries, nodes = np.random.default_rng(0), [], public.view.nodes[public.decisions]
    for deal, actions in zip(nodes["deal"].tolist(), public.actions.tolist(), strict=True):
        one = public.view.deals[deal]
        own = merged.mass[one["edge"][0] : one["edge"][0] + one["rows"][0]] / one["share"]
        entries.append(np.tile(own, actions))  # number of hands and boards that each row stands for
    regret = 100 * (1 + rng.random(public.num_sequences))
    summed = np.zeros(merged.tree.num_sequences)
    summed[sequences_of(merged)] = regret * np.concatenate(entries)
    place(ours, 3, summed, merged.tree.normalised(summed))
    place_public(theirs, 3, regret)
    for solver in (ours, theirs):
        solver.run(iterations=2, curve=False)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)
    assert ours.abstract_values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)


def responses(parameters, buckets):
    """Return responses to one random policy of buckets on both forms of a game, and where to find equal sequences."""
    public, tree = rlccfr.load_game(f"holdem({parameters})"), game(openspiel_form(parameters))
    ours, theirs = (merged_game(one, lambda it: equity_buckets(it, buckets), buckets) for one in (public, tree))
    there = dict(zip(openspiel_keys(tree), theirs.place.tolist(), strict=True))
    equal = {own: there[key] for own, key in zip(sequences_of(ours).tolist(), keys_of(public), strict=True)}
    order = np.array([equal[own] for own in range(len(equal))])
    policy = ours.tree.normalised(np.random.default_rng(0).random(len(equal)))
    return PublicResponses(ours), FlatResponses(theirs), policy, order


@pytest.mark.parametrize("parameters", ["ranks=5,suits=1,private=1,flop=1,opening=2", SMALL])
def test_regrets_against_responses_are_those_of_the_compiled_game(parameters):
    ours, theirs, policy, order = responses(parameters, 2)
    other = np.empty_like(policy)
    other[order] = policy
    ours.respond(policy)
    theirs.respond(other)
    found, expected = np.zeros(len(policy)), np.zeros(len(policy))
    for player in range(2):
        ours.fill_regrets(player, found, np.zeros(len(policy)))
        theirs.fill_regrets(player, expected, np.zeros(len(policy)))
    assert found == pytest.approx(expected[order], abs=1e-12)
    assert np.abs(found).max() > 0.01


def test_learning_against_responses_in_the_game_ends_less_exploitable():
    _, inside = run(("cfr_plus", "none", "equity(buckets=2)"), iterations=1000)
    _, against = run(("cfr_plus", "none", "equity(buckets=2,respond=True)"), iterations=1000)
    assert against.exploitability < inside.exploitability
    assert against.exploitability_abstract > inside.exploitability_abstract


@pytest.mark.parametrize(
    "parts",
    [
        ("cfr_plus", "external", "equity(buckets=2)"),
        ("ecfr", "none", "equity(buckets=2)"),
        pytest.param(("pcfr_plus", "none", "equity(buckets=2,respond=True)"), marks=pytest.mark.slow),
    ],
)
def test_a_run_resumes_bitwise(tmp_path, parts):
    whole, _ = run(parts, iterations=60)
    cut, _ = run(parts, iterations=20)
    cut.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz")
    resumed.run(iterations=40)
    for name, array in engine_state(whole).items():
        assert np.array_equal(array, engine_state(resumed)[name]), name


def test_policies_are_those_of_the_game():
    solver, result = run(("cfr_plus", "none", "kmeans(buckets=2)"))
    policy = solver.average_policy()
    assert policy.exploitability() == pytest.approx(result.exploitability, abs=1e-12)
    assert policy.action_probabilities(0, "5d5c")
    assert solver.current_policy().exploitability() == pytest.approx(result.points[-1].exploitability_current)


def test_a_large_game_is_evaluated_rarely(monkeypatch):
    monkeypatch.setattr("rlccfr.games.public.view.LARGE", 1)
    public = rlccfr.load_game(NAME)
    solver = rlccfr.Solver(public, "cfr_plus", abstraction="equity(buckets=2)")
    result = solver.run(iterations=100)
    assert len(result.points) == 11  # five per decade
    assert all(np.isnan(point.exploitability_current) for point in result.points)
    assert solver.average_policy().table.dtype == np.float32


def test_buckets_change_only_before_a_run():
    solver = rlccfr.Solver(rlccfr.load_game(NAME), "cfr_plus")
    solver.switch(abstraction="equity(buckets=2)")
    solver.run(iterations=10)
    with pytest.raises(ComponentError, match="buckets can't change during a run"):
        solver.switch(abstraction="none")


def test_the_kind_of_opponent_changes_during_a_run():
    solver = rlccfr.Solver(rlccfr.load_game(NAME), "cfr_plus", abstraction="equity(buckets=2)")
    solver.run(iterations=10)
    solver.switch(abstraction="equity(buckets=2,respond=True)")
    assert solver.run(iterations=10).iterations == 20


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        (("deep_cfr", "external", "equity"), {}, "have no tensors, which models need"),
        (("cfr", "public_chance", "equity(respond=True)"), {}, "passes are exact"),
        (("cfr", "none", "suits"), {}, "has its suits merged already"),
        (("cfr", "none", "equity"), {"dtype": "float32"}, "are always in double precision: leave out dtype='float32'"),
    ],
)
def test_what_does_not_run_over_buckets_is_refused(parts, options, message):
    with pytest.raises(ComponentError, match=message):
        rlccfr.Solver(rlccfr.load_game(NAME), *parts, **options)


@pytest.mark.parametrize("respond", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_run_to_a_target_stalls_by_what_its_own_passes_touch(respond):
    solver = rlccfr.Solver(rlccfr.load_game(NAME), "cfr_plus", abstraction=f"equity(buckets=2,respond={respond})")
    result = solver.run(until=1e-9)
    assert not result.reached
    assert 1000 <= result.iterations < 100_000


def test_a_checkpoint_with_other_buckets_is_refused(tmp_path, monkeypatch):
    solver, _ = run(("cfr", "none", "equity(buckets=2)"), 10)
    solver.save(tmp_path / "run.npz")
    monkeypatch.setattr("rlccfr.games.merging.percentiles.equity_buckets", lambda one, buckets: equity_buckets(one, 3))
    with pytest.raises(CheckpointError, match="was made with buckets that differ from those computed now; start"):
        rlccfr.Solver.load(tmp_path / "run.npz")


def test_hands_are_split_once_for_both_kinds_of_opponent(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "rlccfr.games.merging.percentiles.equity_buckets",
        lambda one, buckets: calls.append(buckets) or equity_buckets(one, buckets),
    )
    public = rlccfr.load_game(NAME)
    with pytest.raises(ComponentError, match="passes are exact"):
        rlccfr.Solver(public, "cfr", "external", "equity(buckets=2,respond=True)")
    assert not calls
    for abstraction in ("equity(buckets=2)", "equity(buckets=2,respond=True)"):
        rlccfr.Solver(public, "cfr", "none", abstraction)
    assert calls == [2]


def test_best_responses_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("rlccfr.engine.public.public_state.available_memory", lambda: 1)
    with pytest.raises(RLCCFRError, match=r"and best responses, but only .* are available: leave out respond=True"):
        rlccfr.Solver(rlccfr.load_game(NAME), "cfr", abstraction="equity(buckets=2,respond=True)")
