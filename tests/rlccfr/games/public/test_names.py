"""Games that are built by their public tree, by name."""

from __future__ import annotations

import pytest

import rlccfr
from rlccfr.games.public import names
from rlccfr.games.public.names import LISTED, PUBLIC

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"


@pytest.mark.parametrize(
    ("name", "infosets", "millions"),
    [
        ("holdem", 15_442_180, "15.4"),
        pytest.param("holdem(raises=4)", 90_076_792, "90", marks=pytest.mark.slow),
        pytest.param("flop_holdem", 72_061_704, "72", marks=pytest.mark.slow),
        pytest.param("texas_holdem(buckets=5)", 3_624_290, "3.6", marks=pytest.mark.verify),
    ],
)
def test_the_games_of_the_literature_have_their_sizes(name, infosets, millions):
    game = rlccfr.load_game(name)
    assert game.num_infosets == infosets
    assert f"{millions} million infosets" in LISTED[name]
    assert f"{8 * game.num_sequences / 1e9:.2g} GB" in LISTED[name]


def test_small_relatives_are_made_by_parameters():
    game = rlccfr.load_game(SMALL)
    assert isinstance(game, rlccfr.PublicGame)
    assert game.big_blind == 2
    assert {game.path(node) for node in game.decisions.tolist() if "/" not in game.path(node)} == {"", "c", "r", "cr"}
    assert rlccfr.load_game(SMALL).content_hash == game.content_hash
    assert rlccfr.load_game(SMALL.replace("ranks=4", "ranks=5")).content_hash != game.content_hash


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("holdem(rounds=5)", "rounds of holdem must be from 1 to 4, not 5"),
        ("holdem(cards=5)", "holdem has the parameters rounds, raises, .*, not 'cards'"),
        ("holdem(ranks=2,suits=2)", "holdem deals 7 cards"),
        ("holdem(ranks=5,ranks=6)", "gives a parameter twice"),
        ("flop_holdem(raises=2)", "flop_holdem has only the parameter buckets: leave out 'raises'"),
        ("flop_holdm", "did you mean 'flop_holdem'"),
    ],
)
def test_wrong_names_are_refused_in_one_line(name, message):
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        rlccfr.load_game(name)
    assert "\n" not in str(caught.value)


def test_games_that_do_not_fit_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr(names, "available_memory", lambda: 10**9)
    with pytest.raises(
        rlccfr.GameError, match=r"'holdem\(rounds=4\)' needs at least .* GB of memory, but only 1 GB are available"
    ):
        rlccfr.load_game("holdem(rounds=4)")


@pytest.mark.parametrize(
    "name", ["holdem(ranks=5,suits=3,flop=2)", "holdem(ranks=4,suits=2,rounds=3,private=1,flop=1)"]
)
def test_the_least_number_of_entries_is_a_bound(name):
    games = PUBLIC["holdem"]
    rules = games.rules(games.values(names.parsed(name)[1]))
    entries = rlccfr.load_game(name).num_sequences
    assert 0.2 * entries < rules.least_entries() <= entries


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("holdem(raises=two)", "must be non-negative whole numbers, as in 'holdem"),
        ("bluff(dice=1.5)", "must be non-negative whole numbers, as in 'bluff"),
        ("flop_holdem(raises=-1)", r"must be non-negative whole numbers, as in 'flop_holdem\(buckets=5\)'"),
    ],
)
def test_parameters_that_are_no_whole_numbers_are_named(name, message):
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.load_game(name)
