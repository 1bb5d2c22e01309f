from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers them)
import pyspiel
import pytest

import rlccfr
from rlccfr.games import cache as game_cache
from rlccfr.games import openspiel
from rlccfr.games.check import is_played_as, registered_code
from rlccfr.games.openspiel import registered_here

LARGE = "liars_dice(numdice=1,dice_sides=5)"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def compiled_again(monkeypatch) -> list[str]:
    """Return a list that collects the games that are compiled from now on."""
    walked: list[str] = []
    traverse = openspiel.traverse

    def watched(game, name, *arguments):
        walked.append(name)
        return traverse(game, name, *arguments)

    monkeypatch.setattr(openspiel, "traverse", watched)
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


def test_the_games_that_were_not_used_for_longest_go_first(cache, monkeypatch):
    rlccfr.load_game(LARGE)
    (kept,) = game_cache.kept_files()
    others = [kept.with_name(kept.name.replace(kept.stem[-4:], end)) for end in ("aaaa", "bbbb")]
    for number, path in enumerate(others):
        path.write_bytes(b"0" * 1000)
        os.utime(path, (1 + number,) * 2)
    os.utime(kept, (0, 0))
    rlccfr.load_game(LARGE)  # is read, which counts as use
    assert game_cache.kept_files() == [kept, others[1], others[0]]
    game_cache._keep_within(kept.stat().st_size + 1500)
    assert game_cache.kept_files() == [kept, others[1]]


def test_tables_of_cards_are_kept_beside_games_and_within_the_same_limit(cache):
    table = np.arange(1000)
    for part in ("first", "second"):
        game_cache.keep_arrays("meetings", (part,), {"table": table})
    assert np.array_equal(game_cache.find_arrays("meetings", ("first",))["table"], table)
    assert game_cache.find_arrays("buckets", ("first",)) is None
    older, newer = sorted(game_cache.kept_files())
    os.utime(older, (0, 0))
    game_cache._keep_within(newer.stat().st_size)
    assert game_cache.kept_files() == [newer]
    for part in ("first", "second"):
        game_cache.forget_arrays("meetings", (part,))
    assert game_cache.kept_files() == []


def test_a_table_that_replaces_another_displaces_no_third_one(cache):
    """The replaced table does not count, and a file that does not fit leaves room for smaller, older ones."""
    for part, size in (("older", 100), ("unfinished", 2000)):
        game_cache.keep_arrays("meetings", (part,), {"table": np.arange(size)})
    game_cache.keep_arrays("meetings", ("finished",), {"table": np.arange(1000)}, replaces=("unfinished",))
    assert game_cache.find_arrays("meetings", ("unfinished",)) is None
    assert len(game_cache.kept_files()) == 2
    sizes = sorted(path.stat().st_size for path in game_cache.kept_files())
    game_cache._keep_within(sum(sizes))
    assert len(game_cache.kept_files()) == 2
    newest = game_cache.kept_files()[0]
    game_cache._keep_within(1)
    assert game_cache.kept_files() == [newest]


@pytest.mark.slow
def test_a_process_that_meets_a_kept_game_first_can_walk_it(cache):
    """A process that compiled the game can't show this: Numba takes records of equal layout for one type."""
    tree = rlccfr.load_game(LARGE)
    run = "rlccfr.Solver(tree, 'cfr', 'external').run(iterations=50).exploitability"
    code = f"import rlccfr; tree = rlccfr.load_game({LARGE!r}); print({run})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert float(found.stdout) == rlccfr.Solver(tree, "cfr", "external").run(iterations=50).exploitability


@pytest.mark.slow
def test_recall_limits_and_small_games_are_minded(cache, monkeypatch):
    rlccfr.load_game("kuhn")
    assert not cache.exists()
    rlccfr.load_game(LARGE)
    walked = compiled_again(monkeypatch)
    rlccfr.load_game(LARGE, restore_recall=True)
    assert walked == [LARGE]
    with pytest.raises(rlccfr.GameError, match="size limit"):
        rlccfr.load_game(LARGE, max_histories=1000)


@pytest.mark.parametrize(
    "damage", ["cut", "other version", *(pytest.param(one, marks=pytest.mark.slow) for one in ("flipped", "empty"))]
)
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


@pytest.mark.slow
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


GAME = """
import pyspiel

TYPE = pyspiel.GameType(
    short_name="test_large", long_name="a test", dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION, utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL, max_num_players=2, min_num_players=2,
    provides_information_state_string=True, provides_information_state_tensor=False,
    provides_observation_string=False, provides_observation_tensor=False,
)

class Large(pyspiel.Game):
    def __init__(self, params=None):
        info = pyspiel.GameInfo(150, 0, 2, -9.0, 9.0, 0.0, 2)
        super().__init__(TYPE, info, params or {})

    def new_initial_state(self):
        return State(self)

    def make_py_observer(self, kind=None, params=None):
        return Observer()

class Observer:
    tensor, dict = None, {}

    def set_from(self, state, player):
        pass

    def string_from(self, state, player):
        return f"player {player}"

class State(pyspiel.State):
    def __init__(self, game):
        super().__init__(game)
        self.moves = []

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else len(self.moves)

    def is_terminal(self):
        return len(self.moves) == 2

    def _legal_actions(self, player):
        return list(range(150))

    def _apply_action(self, action):
        self.moves.append(action)

    def returns(self):
        return [WORTH, -WORTH] if self.is_terminal() else [0.0, 0.0]

    def information_state_string(self, player=None):
        return f"player {player}"

pyspiel.register_game(TYPE, Large)
"""


def registered(worth):
    """Register the game in which player 0 always wins ``worth``, replacing the game registered by its name before."""
    exec(compile(GAME, "<a notebook's cell>", "exec"), {"__name__": "__main__", "WORTH": worth})


def value(tree):
    return rlccfr.Policy.uniform(tree).values().game[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_large", "misere(game=test_large())"])
def test_a_game_of_ones_own_is_compiled_each_time(cache, name):
    sign = -1 if name.startswith("misere") else 1
    for worth in (1.0, 7.0):
        registered(worth)
        tree = rlccfr.load_game(name)
        assert tree.num_histories > game_cache.LEAST_HISTORIES
        assert value(tree) == pytest.approx(sign * worth)
    assert not cache.exists()


@pytest.mark.parametrize(
    "name",
    ["kuhn_poker", "goofspiel(num_cards=3)", "misere(game=misere(game=python_kuhn_poker()))", "python_tic_tac_toe"],
)
def test_openspiels_own_games_are_known_as_such(name):
    assert registered_here(name) is None


def test_a_function_that_makes_one_of_openspiels_games_is_code_of_ones_own():
    made = pyspiel.load_game("leduc_poker")
    assert registered_code(made, "leduc_poker", ["leduc_poker"], pyspiel.load_game) is None
    assert registered_code(made, "my_poker(cards=3)", ["leduc_poker", "my_poker"], pyspiel.load_game) == ()


@pytest.mark.slow
def test_a_kept_game_that_is_played_otherwise_now_is_compiled_anew(cache, monkeypatch):
    """This happens if OpenSpiel changes a game but not its version."""
    whole = rlccfr.load_game(LARGE)
    other = rlccfr.load_game("liars_dice(numdice=1,dice_sides=5,bidding_rule=reset-quantity)")
    one, two = (game_cache._path(tree.openspiel_name, False) for tree in (whole, other))
    two.rename(one)
    walked = compiled_again(monkeypatch)
    assert rlccfr.load_game(LARGE).content_hash == whole.content_hash != other.content_hash
    assert walked == [LARGE]


class Changed:
    """State of OpenSpiel's with some of its answers changed."""

    def __init__(self, state, answers):
        self._state, self._answers = state, answers

    def __getattr__(self, name):
        answer = getattr(self._state, name)
        change = self._answers.get(name)
        return (lambda *given: change(answer(*given))) if change else answer


@pytest.mark.parametrize(
    ("answers", "same"),
    [
        ({}, True),
        ({"returns": lambda both: [7 * worth for worth in both]}, False),
        ({"returns": lambda both: [both[0], both[1] + 1]}, False),
        ({"legal_actions": lambda actions: actions[::-1]}, False),
        ({"legal_actions": lambda actions: actions[:1]}, False),
        ({"current_player": lambda player: 1 - player if player >= 0 else player}, False),
        ({"chance_outcomes": lambda outcomes: [(action, chance / 2) for action, chance in outcomes]}, False),
        ({"information_state_string": lambda text: f"{text} "}, False),
        ({"is_terminal": lambda over: False}, False),
        ({"returns": lambda both: 1 / 0}, False),
    ],
)
def test_playouts_tell_a_changed_game(answers, same):
    tree = rlccfr.load_game("kuhn")

    class Game:
        def new_initial_state(self):
            return Changed(openspiel.openspiel_game(tree).new_initial_state(), answers)

    assert is_played_as(tree, Game()) == same
