from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import rlccfr
from rlccfr.games import cache as game_cache
from rlccfr.games import openspiel

LARGE = "liars_dice(numdice=1,dice_sides=5)"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiled_again(monkeypatch) -> list[str]:
    """Which games are walked through from now on."""
    walked: list[str] = []
    traverse = openspiel._traverse

    def watched(game, name, *arguments):
        walked.append(name)
        return traverse(game, name, *arguments)

    monkeypatch.setattr(openspiel, "_traverse", watched)
    return walked


def test_a_kept_game_is_the_compiled_one(cache, monkeypatch):
    first = rlccfr.load_game(LARGE)
    assert len(list(cache.iterdir())) == 1
    walked = compiled_again(monkeypatch)
    second = rlccfr.load_game(LARGE)
    assert not walked
    assert second.content_hash == first.content_hash
    assert (second.name, second.openspiel_name) == (first.name, first.openspiel_name) == (LARGE, LARGE)
    for name in ("histories", "edge_action", "sequence_action"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    assert first.infoset_keys == second.infoset_keys
    assert first.depth == second.depth
    for one, other in zip(first.view, second.view, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    runs = [rlccfr.Solver(tree, "cfr_plus", "external").run(iterations=50) for tree in (first, second)]
    assert runs[0].exploitability == runs[1].exploitability


def test_a_process_that_meets_a_kept_game_first_can_walk_it(cache):
    """Numba takes records of one layout for one type once it has seen the compiled game's."""
    tree = rlccfr.load_game(LARGE)
    run = "rlccfr.Solver(tree, 'cfr', 'external').run(iterations=50).exploitability"
    code = f"import rlccfr; tree = rlccfr.load_game({LARGE!r}); print({run})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) == rlccfr.Solver(tree, "cfr", "external").run(iterations=50).exploitability


def test_recall_limits_and_small_games_are_minded(cache, monkeypatch):
    rlccfr.load_game("kuhn")
    assert not cache.exists()
    rlccfr.load_game(LARGE)
    walked = compiled_again(monkeypatch)
    rlccfr.load_game(LARGE, restore_recall=True)
    assert walked == [LARGE]
    with pytest.raises(rlccfr.GameError, match="size limit"):
        rlccfr.load_game(LARGE, max_histories=1000)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other version"])
def test_what_is_damaged_or_old_is_compiled_anew(cache, monkeypatch, damage):
    expected = rlccfr.load_game(LARGE).content_hash
    (path,) = cache.iterdir()
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        monkeypatch.setattr(game_cache, "version", lambda package: "0.0")
    walked = compiled_again(monkeypatch)
    assert rlccfr.load_game(LARGE).content_hash == expected
    assert walked == [LARGE]


def test_games_of_another_layout_are_dropped(cache, monkeypatch):
    monkeypatch.setattr(game_cache, "FORMAT", "older")
    rlccfr.load_game(LARGE)
    (older,) = cache.iterdir()
    monkeypatch.undo()
    monkeypatch.setenv("RLCCFR_CACHE", str(cache))
    rlccfr.load_game(LARGE)
    (kept,) = cache.iterdir()
    assert kept.name != older.name


def test_a_game_that_openspiel_reads_from_a_file_is_read_each_time(cache, tmp_path):
    size = game_cache.LEAST_HISTORIES // 100
    payoffs = np.random.default_rng(0).integers(-9, 10, (size, 110))
    path, values = tmp_path / "game.nfg", []
    for sign in (1, -1):
        numbers = " ".join(f"{sign * payoff} {-sign * payoff}" for payoff in payoffs.T.ravel())
        path.write_text(f'NFG 1 R "game"\n{{ "a" "b" }} {{ {size} 110 }}\n\n{numbers}\n')
        tree = rlccfr.load_game(f"nfg_game(filename={path})")
        assert tree.num_histories > game_cache.LEAST_HISTORIES
        values.append(rlccfr.Policy.uniform(tree).values().game[0])
    assert values[0] == pytest.approx(-values[1])
    assert values[0] != 0


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path / "file"))
    assert rlccfr.load_game(LARGE).num_histories > game_cache.LEAST_HISTORIES
