"""Matches of two policies."""

from __future__ import annotations

import numpy as np
import pytest
from open_spiel.python.algorithms.expected_game_score import policy_value
from support import game, random_policy

import rlccfr
from rlccfr.errors import BudgetError, PolicyError
from rlccfr.games.public.derived import derived
from rlccfr.policies import matches
from rlccfr.policies.matches import distances, exact_match, played_match

SMALL_HOLDEM = "holdem(ranks=3,suits=2,private=1,flop=1)"


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_payoffs_are_openspiels(name):
    tree = game(name)
    first, second = (random_policy(tree, seed) for seed in (1, 2))
    found = first.against(second)
    root = first.to_openspiel().game.new_initial_state()
    theirs = [policy_value(root, [one.to_openspiel() for one in pair]) for pair in ((first, second), (second, first))]
    assert found.seats == pytest.approx((theirs[0][0], theirs[1][1]), abs=1e-12)
    assert found.value == pytest.approx(sum(found.seats) / 2)
    assert (found.error, found.pairs) == (0.0, 0)
    assert second.against(first).value == pytest.approx(-found.value, abs=1e-12)


def random_public_policy(holdem, seed):
    return rlccfr.PublicPolicy(holdem, np.random.default_rng(seed).random(holdem.num_sequences))


def test_matches_on_a_public_tree_are_those_of_the_game(tmp_path):
    """A best response's value against a policy is the payoff of a match against it."""
    holdem = game(SMALL_HOLDEM)
    first, second = (random_public_policy(holdem, seed) for seed in (1, 2))
    assert first.against(first).seats == pytest.approx(first.values().game, abs=1e-12)
    straight, swapped = first.seated_with(second), second.seated_with(first)
    assert straight.values().best_response == pytest.approx(
        (second.values().best_response[0], first.values().best_response[1]), abs=1e-12
    )
    assert first.against(second).seats == pytest.approx((straight.values().game[0], swapped.values().game[1]))


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_compiled_game_and_its_public_tree_have_the_same_payoffs(name):
    tree = game(name)
    view = derived(tree)
    flat = [random_policy(tree, seed) for seed in (1, 2)]
    public = [rlccfr.PublicPolicy(view.public, one.probabilities[view.sequence]) for one in flat]
    assert exact_match(*public).seats == pytest.approx(exact_match(*flat).seats, abs=1e-12)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel"])
def test_games_played_out_have_the_exact_payoffs_as_their_mean(name):
    tree = game(name)
    first, second = (random_policy(tree, seed) for seed in (1, 2))
    exact, found = first.against(second), played_match(first, second, tree, pairs=200_000, seed=3)
    assert abs(found.value - exact.value) < 2 * found.error
    assert found.seats == pytest.approx(exact.seats, abs=4 * found.error)
    assert found.pairs == 200_000
    assert played_match(first, second, tree, pairs=200_000, seed=3) == found
    assert played_match(first, second, tree, pairs=200_000, seed=4) != found


def test_the_same_cards_are_dealt_in_both_games_of_a_pair():
    """Deterministic policies that are the same have payoffs that cancel in each pair."""
    tree = game("leduc")
    policy = np.zeros(tree.num_sequences)
    policy[tree.view.first_sequence[:-1]] = 1.0
    same = rlccfr.Policy(tree, policy)
    found = played_match(same, same, tree, pairs=500)
    assert (found.value, found.error) == (0.0, 0.0)
    assert found.seats[0] == -found.seats[1]


def test_the_interval_is_as_wide_as_the_spread():
    tree = game("leduc")
    first, second = (random_policy(tree, seed) for seed in (1, 2))
    found = [played_match(first, second, tree, pairs=500, seed=seed) for seed in range(100)]
    spread = np.std([one.value for one in found], ddof=1)
    assert np.mean([one.error for one in found]) == pytest.approx(1.96 * spread, rel=0.25)
    assert 88 <= sum(abs(one.value - first.against(second).value) < one.error for one in found) <= 100


def test_a_function_draws_a_policy_for_each_pair():
    tree, seeds = game("kuhn"), []
    first, second = (random_policy(tree, seed) for seed in (1, 2))

    def drawn(seed):
        seeds.append(seed)
        return first if seed % 2 else second

    found = played_match(drawn, second, tree, pairs=4_000, seed=10)
    assert len(seeds) == len(set(seeds)) == 4_000
    half = first.against(second).value / 2  # every other pair is a policy against itself
    assert abs(found.value - half) < 3 * found.error


@pytest.mark.slow
def test_two_functions_draw_independently():
    tree = game("kuhn")
    solver, second = rlccfr.Solver(tree), random_policy(tree, 2)
    solver.run(iterations=100, curve=False)
    first = solver.average_policy()

    def drawn(seed):
        return first if seed % 2 else second

    found = played_match(drawn, lambda seed: second if seed % 2 else first, tree, pairs=10_000, seed=1)
    assert abs(found.value) < 2 * found.error  # with the same seeds, it would be that of first against second
    assert abs(first.against(second).value) > 6 * found.error


def test_what_can_not_be_played_is_refused():
    kuhn, leduc = (rlccfr.Policy.uniform(game(name)) for name in ("kuhn", "leduc"))
    with pytest.raises(PolicyError, match="but are for 'kuhn' and 'leduc'"):
        kuhn.against(leduc)
    with pytest.raises(BudgetError, match="pairs"):
        played_match(kuhn, kuhn, kuhn.game, pairs=1)
    with pytest.raises(BudgetError, match="seed"):
        played_match(kuhn, kuhn, kuhn.game, seed=-1)
    for policy, other in ((kuhn, leduc), (leduc, kuhn)):
        for side in (policy, lambda seed, policy=policy: policy):
            with pytest.raises(PolicyError, match="can't play"):
                played_match(side, policy, other.game, pairs=2)
    holdem = rlccfr.PublicPolicy.uniform(game(SMALL_HOLDEM))
    with pytest.raises(PolicyError, match="matches are exact: leave out pairs"):
        played_match(holdem, holdem, holdem.game)
    with pytest.raises(PolicyError, match="has no list of infosets"):
        distances(holdem, holdem)


def test_distances_are_total_variations_by_depth():
    tree = game("kuhn")
    first, second = rlccfr.Policy.uniform(tree), rlccfr.Policy(tree, tree.uniform_policy())
    own = tree.infoset_sequences(0)  # an infoset of the first move
    second.probabilities[own] = [0.75, 0.25]
    found = distances(first, second).set_index("depth")
    assert found["infosets"].to_dict() == {0: 3, 1: 6, 2: 3}
    assert found["mean"].to_dict() == pytest.approx({0: 0.25 / 3, 1: 0.0, 2: 0.0})
    assert found.loc[0, "deviation"] == pytest.approx(np.std([0.25, 0, 0]))


def test_the_command_plays(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("solve", "kuhn", "--iterations", "50", "--policy", "kuhn.csv", "--checkpoint", "run.npz")[0] == 0
    code, out, _ = run("match", "kuhn", "kuhn.csv", "uniform")
    assert code == 0
    exact = rlccfr.Policy.load("kuhn.csv", game("kuhn")).against(rlccfr.Policy.uniform(game("kuhn")))
    assert f"{exact.value:.4g}" in out
    assert "of kuhn.csv, over both seats; exact" in out
    assert run("match", "kuhn", "run.npz", "uniform")[1].split()[3] == out.split()[3]
    _, out, _ = run("match", "kuhn", "kuhn.csv", "uniform", "--pairs", "1000", "--seed", "5")
    assert "(95 %), 1,000 pairs of games" in out
    assert run("match", SMALL_HOLDEM, "uniform", "uniform")[1].split()[:4] == ["payoff", "per", "game", "0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("leduc", "kuhn.csv", "uniform"), "is a policy of 'kuhn', not of 'leduc'"),
        (("leduc", "run", "run"), "run is a run on 'kuhn', not on 'leduc'"),
        (("kuhn", "nothing.npz", "uniform"), "there is no file nothing.npz"),
        (("kuhn", "best", "uniform"), "'best' responds to the first policy"),
        (("kuhn", "uniform", "uniform", "--pairs", "20", "--seed", "-1"), "seed"),
        ((SMALL_HOLDEM, "hands.csv", "uniform"), "hands.csv is a table for reading, which can't be loaded"),
        ((SMALL_HOLDEM, "uniform", "uniform", "--pairs", "20"), "matches are exact: leave out pairs"),
    ],
)
def test_what_can_not_be_played_is_one_line(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run("solve", "kuhn", "--iterations", "5", "--policy", "kuhn.csv", "--checkpoint", "run")[0] == 0
    assert run("solve", SMALL_HOLDEM, "--iterations", "5", "--policy", "hands.csv")[0] == 0
    assert run("match", "kuhn", "run", "kuhn.csv")[1].split()[3] == "0"
    code, out, err = run("match", *arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_run_with_value_networks_draws_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rule = "deep_cfr(preset='sweep',average='value_networks',model='table')"
    done = run("solve", "kuhn", "--update-rule", rule, "--sampler", "external", "--iterations", "10",
               "--checkpoint", "run.npz")  # fmt: skip
    assert done[0] == 0
    code, out, _ = run("match", "kuhn", "run.npz", "uniform", "--pairs", "300")
    assert code == 0
    solver = rlccfr.Solver.load("run.npz")
    expected = played_match(solver.draw_policy, rlccfr.Policy.uniform(solver.game), solver.game, pairs=300)
    assert f"{expected.value:.4g}" in out


def test_a_match_of_any_length_is_played_in_parts(monkeypatch):
    """Ctrl-C takes effect between the parts; their lengths change no game."""
    tree, shares = game("leduc"), []
    first, second = (random_policy(tree, seed) for seed in (1, 2))
    whole = played_match(first, second, tree, pairs=1000, seed=3)
    monkeypatch.setattr(matches, "AT_ONCE", 7)
    parted = played_match(first, second, tree, pairs=1000, seed=3, progress=shares.append)
    assert [parted.value, *parted.seats, parted.error] == pytest.approx([whole.value, *whole.seats, whole.error])
    assert shares[-1] == 1.0
    assert len(shares) == 143

    def interrupt(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played_match(first, second, tree, pairs=10**12, seed=3, progress=interrupt)
