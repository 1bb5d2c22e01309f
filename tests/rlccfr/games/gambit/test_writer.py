"""Games are written so that Gambit reads them as the same games, and policies so that nothing is lost."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support import random_policy

import rlccfr
from rlccfr.games.gambit.reader import parse
from rlccfr.games.gambit.writer import fractions, profile, read_profile, to_efg

GAMES = (
    "kuhn",
    "leduc(ranks=2,suits=2,raises=1)",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    "liars_dice(numdice=1,dice_sides=2)",
    "random_moves(seed=1,moves=4)",  # chance has no small fractions
    "python_kuhn_poker",
)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_read_back(tmp_path, name):
    game = rlccfr.load_game(name)
    path = tmp_path / "game.efg"
    path.write_text(to_efg(game))
    again = rlccfr.load_game(str(path))
    assert (again.num_histories, again.num_infosets) == (game.num_histories, game.num_infosets)
    ours, theirs = (rlccfr.Policy.uniform(one).values()[:3] for one in (game, again))
    assert np.allclose(ours, theirs, rtol=0, atol=1e-12)


def test_both_players_own_payoffs_are_written(tmp_path):
    game = rlccfr.matrix_game([[0.1, 0.7], [0.4, 0.2]], [[0.9, 0.3], [0.6, 0.8]])
    rlccfr.Policy.uniform(game).save(tmp_path / "policy.efg")
    assert rlccfr.load_game(tmp_path / "policy.efg").opponent_payoffs == (1.0, 1.0)
    assert rlccfr.Policy.load(tmp_path / "policy.efg").game.opponent_payoffs == (1.0, 1.0)


@pytest.mark.parametrize("name", GAMES)
def test_a_profile_is_read_back_bit_for_bit(name):
    game = rlccfr.load_game(name)
    policy = random_policy(game, 0)
    assert np.array_equal(read_profile(game, profile(game, policy.probabilities)), policy.probabilities)


@pytest.mark.parametrize("text", ["NE", "NE,1,0", "0.5,0.5", ""])
def test_what_is_no_profile_is_refused(text):
    with pytest.raises(ValueError, match="a profile is NE and 24 probabilities, separated by commas"):
        read_profile(rlccfr.load_game("kuhn"), text)


def test_labels_of_a_file_are_kept(tmp_path):
    first, second, third = (tmp_path / f"{name}.efg" for name in "abc")
    first.write_text(to_efg(rlccfr.load_game("kuhn")))
    second.write_text(to_efg(rlccfr.load_game(str(first))))
    third.write_text(to_efg(rlccfr.load_game(str(second))))
    nodes = [path.read_text().splitlines()[3:] for path in (first, second, third)]
    assert nodes[0] == nodes[1] == nodes[2]


def test_labels_are_such_as_gambit_takes():
    game = rlccfr.load_game("goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    labels = [line.split('"')[3] for line in to_efg(game).splitlines() if line.startswith("p ")]
    assert len(set(labels)) == game.num_infosets
    for label in labels:
        assert label == " ".join(label.split())
        assert label.isascii()
        assert label.isprintable()


def test_a_label_that_is_taken_gets_another_number():
    game = replace(rlccfr.load_game("kuhn"), infoset_keys=("a", "a (2)", "a", "é\n \\") * 3)
    text = to_efg(game)
    assert {'"a"', '"a (2)"', '"a (3)"', '"? /"'} <= set(re.findall(r'"[^"]*"', text))


def test_a_hostile_number_takes_no_time():
    text = ",".join(["NE", "1e30000000", *["0"] * 23])
    assert read_profile(rlccfr.load_game("kuhn"), text).max() == float("inf")
    with pytest.raises(ValueError, match="a fraction has"):
        read_profile(rlccfr.load_game("kuhn"), ",".join(["NE", "1/" + "9" * 10**6, *["0"] * 23]))


@pytest.mark.parametrize("chances", [[1 / 3] * 3, [0.1, 0.2, 0.7], [1.0], [0.5, 0.25, 0.25]])
def test_small_fractions_are_found(chances):
    found = fractions(chances)
    assert sum(found) == 1
    assert [float(one) for one in found] == chances
    assert max(one.denominator for one in found) <= 10


def test_other_chances_sum_to_one():
    chances = np.random.default_rng(0).dirichlet(np.ones(7)).tolist()
    found = fractions(chances)
    assert sum(found) == Fraction(1)
    assert np.allclose([float(one) for one in found], chances, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", GAMES)
def test_gambit_reads_the_game_and_the_policy(tmp_path, name):
    path, policy = tmp_path / "policy.efg", random_policy(rlccfr.load_game(name), 0)
    policy.save(path)
    game, profile = read_by_gambit(path)
    assert (game.title, game.is_const_sum) == (name, True)
    assert payoffs(game, profile) == pytest.approx(policy.values().game, abs=1e-9)


def test_gambit_finds_what_each_player_could_gain(tmp_path):
    path, policy = tmp_path / "policy.efg", random_policy(rlccfr.load_game("kuhn"), 0)
    policy.save(path)
    _, profile = read_by_gambit(path)
    values = policy.values()
    gains = [best - own for best, own in zip(values.best_response, values.game, strict=True)]
    assert profile.as_strategy().max_regret() == pytest.approx(max(gains), abs=1e-9)


def read_by_gambit(path):
    """Return Gambit's game, and its profile of the probabilities in the file's comment, in the file's order."""
    pygambit = pytest.importorskip("pygambit", reason="pip install 'rlccfr[gambit]'")
    sets = {}
    for node in parse(path.read_text(), "a file").nodes:
        if node.actor >= 0:
            sets.setdefault((node.actor, node.set), len(node.children))
    game = pygambit.read_efg(str(path))
    head, *numbers = game.description.splitlines()[1].split(",")
    assert head == "NE"
    left = iter(map(float, numbers))
    data = [
        [[next(left) for _ in range(count)] for (owner, _), count in sets.items() if owner == player]
        for player in (0, 1)
    ]
    assert next(left, None) is None
    return game, game.mixed_behavior_profile(data=data, rational=False)


def payoffs(game, profile):
    """Return both players' expected payoffs; Gambit 17 asks for them otherwise than Gambit 16."""
    if hasattr(profile, "payoff"):
        return [profile.payoff(player) for player in game.players]
    return [profile.payoffs[player] for player in game.players]
