"""The games on which controllers are trained, validated and tested: ``python -m benchmarks.control_games``.

Writes agents/control/data/games.csv. Training and validation games are *hard*: no fixed rule of :data:`RULES`
comes within 1e-8 of the uniform policy's exploitability in 1,000 iterations of exact passes. Test games are compiled,
to count their histories, but not run. Larger games to train on have a split of their own, ``larger``. They were added
last, after the new test games had been named (:mod:`benchmarks.new_games`), and none of them is one of those.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from random import Random
from typing import Any

import pandas as pd

import rlccfr
from rlccfr.agents.control.games import FILE
from rlccfr.errors import GameError
from rlccfr.games.flat_tree import COMPILED
from rlccfr.games.names import form_named

RULES = (
    "cfr", "cfr_plus", "lcfr", "lcfr_plus", "dcfr", "dcfr_plus", "pcfr_plus", "pdcfr_plus", "hs_pcfr_plus", "hs_dcfr"
)  # fmt: skip
HARD, ITERATIONS = 1e-8, 1000
MOST = 6_500
"""Most histories of a generated game for training or validation, and of a test game of their size."""

MOST_TEST = 2_000_000
"""Most histories of a test game."""

MOST_LARGER = 60_000
"""Most histories of a larger game to train on; it has more than :data:`MOST`."""

SEEDS = {"train": 10_000, "larger": 15_000, "validation": 20_000, "test": 30_000}
"""First seed of each split."""

STAGES = (
    ("train", {"random_poker": 70, "random_moves": 45, "universal_poker": 40}),
    ("validation", {"random_poker": 14, "random_moves": 9, "universal_poker": 9}),
    ("test", {"random_poker": 10, "random_moves": 8, "universal_poker": 12}),
    ("train", {"random_poker": 230, "random_moves": 155, "universal_poker": 160}),
    ("larger", {"random_poker": 60, "random_moves": 40, "universal_poker": 40}),
)
"""Numbers of generated games, split by split in the order in which they are chosen.

The last two stages were added when the first training games turned out to be too few, and then too small. They do not
change the other splits.
"""

UNIVERSAL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind={},raiseSize={} {},firstPlayer={} 1,maxRaises={} {},"
    "numSuits={},numRanks={},numHoleCards=1,numBoardCards=0 {})"
)


def random_poker(seed: int) -> str:
    """Return generated poker with numbers of hands, boards and raises drawn at random."""
    random = Random(seed)
    hands, boards, raises = random.randint(4, 10), random.randint(1, 4), random.randint(1, 3)
    return f"random_poker(seed={seed},hands={hands},boards={boards},raises={raises})"


def shapes_of_moves(types: range, moves: range, least: float, most: float) -> tuple[tuple[int, int, int], ...]:
    """Return types, moves and actions of games of hidden moves, by their numbers of histories.

    Args:
        types, moves: numbers of types and of moves to choose from.
        least, most: a game has more than ``least`` histories, and at most ``most``.
    """
    return tuple(
        (num_types, num_moves, actions)
        for num_types in types
        for num_moves in moves
        for actions in range(2, 5)
        if least < num_types**2 * (actions ** (num_moves + 1) - 1) / (actions - 1) + num_types + 1 <= most
    )


MOVES = shapes_of_moves(range(3, 11), range(3, 10), MOST / 4, MOST)
"""Types, moves and actions of games of a quarter of the largest size and more."""


def random_moves(seed: int) -> str:
    """Return a generated game of hidden moves with numbers of types, moves and actions drawn at random."""
    types, moves, actions = Random(seed).choice(MOVES)
    return f"random_moves(seed={seed},types={types},moves={moves},actions={actions})"


def universal_poker(seed: int) -> str:
    """Return limit poker with a deck, blinds, raises and order of play drawn at random."""
    random = Random(seed)
    suits = random.choice((1, 2, 2))
    ranks = random.randint(5, 7) if suits == 1 else random.randint(3, 5)
    blinds, first, second = random.choice(("1 1", "1 2", "2 2")), random.randint(1, 3), random.choice((2, 4, 6, 8))
    raises = random.choice((1, 2, 3)), random.choice((1, 2))
    return UNIVERSAL.format(blinds, first, second, random.choice((1, 2)), *raises, suits, ranks, 1)


GENERATORS: dict[str, Callable[[int], str]] = {
    "random_poker": random_poker,
    "random_moves": random_moves,
    "universal_poker": universal_poker,
}


def larger_poker(seed: int) -> str:
    """Return generated poker with more hands and boards."""
    random = Random(seed)
    hands, boards, raises = random.randint(8, 30), random.randint(1, 5), random.randint(1, 3)
    return f"random_poker(seed={seed},hands={hands},boards={boards},raises={raises})"


LARGER_MOVES = shapes_of_moves(range(3, 16), range(3, 11), MOST, MOST_LARGER)


def larger_moves(seed: int) -> str:
    """Return a larger generated game of hidden moves."""
    types, moves, actions = Random(seed).choice(LARGER_MOVES)
    return f"random_moves(seed={seed},types={types},moves={moves},actions={actions})"


def larger_universal(seed: int) -> str:
    """Return limit poker with a larger deck and more raises."""
    random = Random(seed)
    suits = random.choice((1, 2, 2, 3))
    ranks = {1: random.randint(7, 13), 2: random.randint(4, 7), 3: random.randint(3, 5)}[suits]
    blinds, first, second = random.choice(("1 1", "1 2", "2 2")), random.randint(1, 3), random.choice((2, 4, 6, 8))
    raises = random.choice((1, 2, 3)), random.choice((1, 2, 3))
    return UNIVERSAL.format(blinds, first, second, random.choice((1, 2)), *raises, suits, ranks, 1)


LARGER_GENERATORS: dict[str, Callable[[int], str]] = {
    "random_poker": larger_poker,
    "random_moves": larger_moves,
    "universal_poker": larger_universal,
}

NAMED = {
    "train": (
        "leduc(ranks=3,suits=2,raises=1)",
        "leduc(ranks=5,suits=1,raises=2)",
        "leduc(ranks=6,suits=1,raises=1)",
        "leduc(ranks=7,suits=1,raises=1)",
    ),
    "larger": (
        "oshi_zumo(coins=6,size=1,horizon=3)",
        "leduc(ranks=4,suits=2,raises=2)",
        "leduc(ranks=3,suits=3,raises=2)",
        "leduc(ranks=8,suits=1,raises=3)",
        "leduc(ranks=10,suits=1,raises=2)",
        "leduc(ranks=4,suits=2,raises=3)",
    ),
    "validation": ("leduc", "leduc(ranks=4,suits=2,raises=1)"),
    "test": (
        # ten times as large as any training game
        "random_poker(seed=31001,hands=20,boards=3,raises=2)",
        "random_poker(seed=31002,hands=33,boards=2,raises=1)",
        "random_poker(seed=31003,hands=12,boards=4,raises=3)",
        "random_poker(seed=31004,hands=60,boards=1,raises=3)",
        "random_poker(seed=31005,hands=16,boards=6,raises=2)",
        "random_moves(seed=31011,types=12,moves=9,actions=2)",
        "random_moves(seed=31012,types=8,moves=6,actions=3)",
        "random_moves(seed=31013,types=16,moves=8,actions=2)",
        "random_moves(seed=31014,types=6,moves=7,actions=3)",
        "random_moves(seed=31015,types=10,moves=5,actions=4)",
        "leduc(ranks=13,suits=1,raises=2)",
        "leduc(ranks=6,suits=2,raises=2)",
        "leduc(ranks=5,suits=2,raises=3)",
        "leduc(ranks=4,suits=3,raises=2)",
        "leduc(ranks=13,suits=2,raises=1)",
        UNIVERSAL.format("1 2", 1, 2, 2, 2, 2, 2, 7, 1),
        UNIVERSAL.format("1 1", 2, 8, 1, 3, 3, 2, 5, 1),
        UNIVERSAL.format("2 2", 1, 3, 1, 2, 2, 3, 4, 1),
        "liars_dice(numdice=1,dice_sides=5)",
        "liars_dice(numdice=1,dice_sides=6)",
        "goofspiel(num_cards=5,imp_info=True,points_order=ascending,returns_type=point_difference)",
        "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=3)",
        # a hundred times as large
        "royal",
        "liars_dice(numdice=1,dice_sides=7)",
        "liars_dice(numdice=1,dice_sides=7,bidding_rule=reset-quantity)",
        "leduc(ranks=13,suits=2,raises=2)",
        "leduc(ranks=11,suits=2,raises=3)",
        "leduc(ranks=9,suits=3,raises=2)",
        UNIVERSAL.format("1 2", 2, 6, 2, 3, 3, 2, 9, 1),
        UNIVERSAL.format("1 1", 1, 2, 1, 2, 2, 2, 5, 2),
        "random_poker(seed=32001,hands=50,boards=4,raises=2)",
        "random_poker(seed=32002,hands=40,boards=3,raises=3)",
        "random_moves(seed=32011,types=16,moves=7,actions=3)",
        "random_moves(seed=32012,types=16,moves=11,actions=2)",
    ),
}


def games(split: str, family: str, known: set[str]) -> Iterator[dict[str, Any]]:
    """Yield generated games of a family that are not too large and, unless they are for testing, hard.

    Args:
        known: hashes of games to skip, since another name may stand for the same game; those of the new games are
            added.
    """
    is_larger = split == "larger"
    generate = (LARGER_GENERATORS if is_larger else GENERATORS)[family]
    for seed in count(SEEDS[split]):
        name = generate(seed)
        try:
            game = rlccfr.load_game(name, max_histories=MOST_LARGER if is_larger else MOST)
        except GameError:  # too large
            continue
        if game.content_hash in known or (is_larger and game.num_histories <= MOST):
            continue
        known.add(game.content_hash)
        row = described(game, split, family)
        if split == "test" or row["hardness"] > HARD:
            yield row


def new_test_games() -> list[str]:
    """Return the names of the compiled games that were named as the new test games."""
    from benchmarks import new_games

    return [name for name in new_games.names() if form_named(name) is COMPILED]


def described(game: rlccfr.GameTree, split: str, family: str) -> dict[str, Any]:
    """Return a game's row: its sizes and, unless it is for testing, how close fixed rules come to a solution."""
    row: dict[str, Any] = {"split": split, "family": family, "game": game.name}
    row |= {"histories": game.num_histories, "infosets": game.num_infosets}
    if split != "test":
        uniform, found = rlccfr.Policy.uniform(game).exploitability(), {}
        for rule in RULES:
            solver = rlccfr.Solver(game, rule)
            found[rule] = solver.run(iterations=ITERATIONS, curve=False).exploitability / uniform
        best = min(found, key=found.__getitem__)
        row |= {"hardness": found[best], "best": best}
    return row


def chosen() -> Iterator[dict[str, Any]]:
    """Yield the rows of all games."""
    known: set[str] = set()
    named = dict(NAMED)
    for split, quotas in STAGES:
        if split == "larger":
            known |= {rlccfr.load_game(name, max_histories=MOST_TEST).content_hash for name in new_test_games()}
        for family, quota in quotas.items():
            yield from islice(games(split, family, known), quota)
        for name in named.pop(split, ()):
            game = rlccfr.load_game(name, max_histories=MOST_TEST)
            assert game.content_hash not in known, name
            known.add(game.content_hash)
            yield described(game, split, name.split("(")[0])


def main() -> None:
    """Choose, describe and write all games."""
    rows = []
    for row in chosen():
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    pd.DataFrame(rows).to_csv(FILE, index=False, float_format="%.3g")


if __name__ == "__main__":
    main()
