"""The test games of the default and of schedules: ``python -m benchmarks.new_games``.

The list was committed on 2026-11-27, before any algorithm had run on any of its games. None of them is in an earlier
list: neither in agents/control/data/games.csv, whose test games have been looked at several times and now serve as
validation games, nor in a family of :mod:`rlccfr.catalog.families`, nor in the tables of the documentation.

The command compiles the games, to count their histories, and writes benchmarks/results/new-games.csv. It runs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from benchmarks import exact
from benchmarks.control_games import GENERATORS, MOST, MOST_TEST
from rlccfr.agents.control.games import control_games
from rlccfr.catalog import families
from rlccfr.errors import GameError
from rlccfr.games.flat_tree import GameTree

FILE = Path(__file__).parent / "results" / "new-games.csv"

FIRST_SEED = 50_000
"""First seed of the small generated games; no earlier list has this seed or a larger one."""

SMALL = {"random_poker": 15, "random_moves": 10, "universal_poker": 16}
"""Numbers of generated games with at most 6,500 histories, the size of the games that the controller learned from."""

LARGEST_TRAINED_ON = 6_381
"""Histories of the largest game that the shipped controller learned from."""

_LIMIT = (
    "universal_poker(betting=limit,numPlayers=2,numRounds={},blind={},raiseSize={},firstPlayer={},maxRaises={},"
    "numSuits={},numRanks={},numHoleCards=1,numBoardCards={})"
)
_NO_LIMIT = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=1 1,stack={0} {0},firstPlayer=1 1,"
    "numSuits=2,numRanks={1},numHoleCards=1,numBoardCards=0 1,bettingAbstraction={2})"
)
_GOOFSPIEL = "goofspiel(num_cards={},imp_info=True,points_order={},returns_type={}{})"
_BATTLESHIP = "battleship(board_width={},board_height={},ship_sizes=[{}],ship_values=[{}],num_shots={})"

NAMED = (
    # small members of families
    _GOOFSPIEL.format(4, "random", "point_difference", ""),
    "oshi_zumo(coins=5,size=1,horizon=4)",
    _BATTLESHIP.format(2, 1, "1", "2", 3),
    # at least ten times as large as any game that the controller learned from
    "random_poker(seed=51001,hands=18,boards=4,raises=2)",
    "random_poker(seed=51002,hands=30,boards=2,raises=2)",
    "random_poker(seed=51003,hands=14,boards=3,raises=3)",
    "random_poker(seed=51004,hands=64,boards=1,raises=3)",
    "random_poker(seed=51005,hands=24,boards=5,raises=1)",
    "random_moves(seed=51011,types=11,moves=9,actions=2)",
    "random_moves(seed=51012,types=8,moves=6,actions=3)",
    "random_moves(seed=51013,types=15,moves=8,actions=2)",
    "random_moves(seed=51014,types=5,moves=7,actions=3)",
    "random_moves(seed=51015,types=9,moves=5,actions=4)",
    "leduc(ranks=7,suits=2,raises=2)",
    "leduc(ranks=9,suits=2,raises=1)",
    "leduc(ranks=5,suits=3,raises=2)",
    "leduc(ranks=11,suits=1,raises=3)",
    _LIMIT.format(2, "1 2", "1 3", "2 1", "2 3", 2, 6, "0 1"),
    _LIMIT.format(2, "1 1", "3 4", "1 1", "3 2", 3, 4, "0 1"),
    _LIMIT.format(2, "1 1", "1 2", "1 1", "2 1", 3, 3, "0 2"),
    "liars_dice(numdice=1,dice_sides=5,bidding_rule=reset-quantity)",
    _GOOFSPIEL.format(6, "descending", "point_difference", ",num_turns=3"),
    _GOOFSPIEL.format(6, "ascending", "point_difference", ",num_turns=4"),
    # a hundred times as large
    "random_poker(seed=52001,hands=46,boards=4,raises=2)",
    "random_poker(seed=52002,hands=38,boards=3,raises=3)",
    "random_moves(seed=52011,types=15,moves=7,actions=3)",
    "random_moves(seed=52012,types=14,moves=11,actions=2)",
    "random_moves(seed=52013,types=10,moves=8,actions=3)",
    "leduc(ranks=11,suits=2,raises=2)",
    "leduc(ranks=10,suits=2,raises=3)",
    "leduc(ranks=8,suits=3,raises=2)",
    _LIMIT.format(2, "1 2", "2 4", "2 1", "3 2", 2, 11, "0 1"),
    _LIMIT.format(2, "1 2", "2 2", "2 1", "2 2", 2, 6, "0 2"),
    _GOOFSPIEL.format(7, "ascending", "win_loss", ",num_turns=4"),
    # no limit, with all raises and with raises of the pot
    _NO_LIMIT.format(7, 3, "fullgame"),
    _NO_LIMIT.format(20, 5, "fcpa"),
)
"""Games that are compiled."""

BLENDED_BEFORE = (
    "random_poker(seed=41002,hands=12,boards=3,raises=2)",
    "random_poker(seed=41004,hands=25,boards=3,raises=1)",
    "random_poker(seed=41005,hands=14,boards=3,raises=3)",
    "random_poker(seed=41006,hands=40,boards=2,raises=2)",
    "random_moves(seed=41011,types=12,moves=7,actions=2)",
    "random_moves(seed=41012,types=6,moves=6,actions=3)",
    "random_moves(seed=41014,types=10,moves=6,actions=3)",
    "random_moves(seed=41015,types=8,moves=5,actions=4)",
    "random_moves(seed=41016,types=12,moves=10,actions=2)",
    "leduc(ranks=5,suits=2,raises=2)",
    "leduc(ranks=8,suits=2,raises=1)",
    "leduc(ranks=9,suits=2,raises=2)",
)
"""Games on which blends were tried before; they are in no other list."""

PUBLIC = ("holdem(ranks=8,suits=3)",)
"""Games that are solved by their public tree. No game of this name has been measured."""


def names() -> tuple[str, ...]:
    """Return the names of all test games, from the file."""
    return tuple(pd.read_csv(FILE)["game"])


def earlier() -> set[str]:
    """Return the hashes of the compiled games of all earlier lists; another name may stand for the same game."""
    lists = [control_games(split) for split in ("train", "validation", "test")]
    earlier_names = {*families.TRAIN, *families.VALIDATION, *families.TEST, *BLENDED_BEFORE, *exact.GAMES, *exact.MORE}
    earlier_names |= {name for split in lists for name in split}
    return {rlccfr.load_game(name, max_histories=MOST_TEST).content_hash for name in sorted(earlier_names)}


def generated(family: str, known_hashes: set[str]) -> Iterator[GameTree]:
    """Yield small generated games whose hashes are not yet known, and add their hashes to the known ones."""
    for seed in count(FIRST_SEED):
        try:
            game = rlccfr.load_game(GENERATORS[family](seed), max_histories=MOST)
        except GameError:  # too large
            continue
        if game.content_hash not in known_hashes:
            known_hashes.add(game.content_hash)
            yield game


def chosen() -> Iterator[dict[str, Any]]:
    """Yield a row for each game: its name, family and size, and whether it is compiled."""
    known_hashes = earlier()
    for name in NAMED:
        game = rlccfr.load_game(name, max_histories=MOST_TEST)
        if game.content_hash in known_hashes:
            raise ValueError(f"{name} is in an earlier list")
        known_hashes.add(game.content_hash)
        yield described(game, "compiled")
    for family, number in SMALL.items():
        for game in islice(generated(family, known_hashes), number):
            yield described(game, "compiled")
    for name in PUBLIC:
        yield described(rlccfr.load_game(name), "public tree")


def described(game: Any, form: str) -> dict[str, Any]:
    """Return a game's row of the file."""
    family = game.full_name.partition("(")[0]
    histories = game.num_histories if form == "compiled" else None
    return {
        "game": game.full_name,
        "family": family,
        "form": form,
        "histories": histories,
        "infosets": game.num_infosets,
    }


def main() -> None:
    """Compile, count and write all games."""
    rows = []
    for row in chosen():
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    table = pd.DataFrame(rows).astype({"histories": "Int64"})
    table.to_csv(FILE, index=False)
    larger = [(table["histories"] >= factor * LARGEST_TRAINED_ON).sum() for factor in (10, 100)]
    print(f"{len(table)} games, {larger[0]} of them ten times as large as any trained on, {larger[1]} a hundred times")


if __name__ == "__main__":
    main()
