from __future__ import annotations

import pytest

from rlccfr import GameError, load_game
from rlccfr.games import size, traversal

MEGABYTE = 1_000_000


@pytest.fixture
def left(monkeypatch):
    """``left(n)`` leaves so many bytes of memory, of unknown amount if None."""
    return lambda number: monkeypatch.setattr(size, "available_memory", lambda: number)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["go", "phantom_ttt", "liars_dice(numdice=2)"])
def test_a_game_far_beyond_the_limit_is_refused_after_a_few_of_its_histories(left, name):
    left(None)
    asked = []
    with pytest.raises(GameError, match="has more than 2,000,000 histories, the size limit; raise the limit"):
        load_game(name, progress=asked.append)
    assert len(asked) <= 2  # a call every 20,000 histories


def test_a_game_far_beyond_memory_is_refused_after_a_few_of_its_histories_whatever_the_limit(left):
    left(1_000 * MEGABYTE)
    asked = []
    with pytest.raises(GameError, match=r"does not fit into memory: .* and 1 GB are available; choose a smaller game"):
        load_game("phantom_ttt", max_histories=10**12, progress=asked.append)
    assert len(asked) <= 2


def test_playouts_are_made_once_where_memory_is_the_smaller_limit(left, monkeypatch):
    left(1_000 * MEGABYTE)
    bounds = []
    monkeypatch.setattr(size, "_estimated_above", lambda bound, *_: bounds.append(bound) or True)
    with pytest.raises(GameError, match="does not fit into memory"):
        size.check_size(None, "a game", max_histories=10**12)
    assert len(bounds) == size.ESTIMATES // 2 + 1


def test_a_larger_limit_is_recommended_only_if_memory_may_hold_the_game(left):
    left(10_000_000 * MEGABYTE)
    with pytest.raises(GameError, match="the size limit; raise the limit"):
        load_game("liars_dice(numdice=2)")
    left(1_000 * MEGABYTE)
    with pytest.raises(GameError, match="does not fit into memory"):
        load_game("liars_dice(numdice=2)")


def test_a_large_game_of_perfect_information_is_left_to_search(left):
    left(1_000 * MEGABYTE)
    with pytest.raises(GameError, match="or search the game: with perfect information it needs no CFR"):
        load_game("hex")


def test_a_game_that_memory_may_hold_is_refused_before_its_arrays_are_built(left):
    """Leduc poker has 9,457 histories."""
    left(9_457 * size.BYTES_TO_BUILD - 1)
    with pytest.raises(GameError, match="'leduc' does not fit into memory"):
        load_game("leduc")
    left(9_457 * size.BYTES)
    assert load_game("leduc").num_histories == 9_457


def test_memory_is_looked_at_on_the_way(left, monkeypatch):
    monkeypatch.setattr(traversal, "REPORT_EVERY", 1_000)
    left(3_500 * size.BYTES_TO_BUILD)
    asked = []
    with pytest.raises(GameError, match="'leduc' does not fit into memory"):
        load_game("leduc", progress=asked.append)
    assert len(asked) == 4  # after 0, 1,000, 2,000 and 3,000 histories


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "liars_dice(numdice=1,dice_sides=4)", "kuhn(cards=13)"])
def test_no_game_within_the_limit_is_refused(left, monkeypatch, name):
    left(None)
    number = load_game(name).num_histories
    monkeypatch.setattr(traversal, "REPORT_EVERY", 10)  # so that the size of each is estimated
    assert load_game(name, max_histories=number).num_histories == number
    with pytest.raises(GameError, match="size limit"):
        load_game(name, max_histories=number - 1)
