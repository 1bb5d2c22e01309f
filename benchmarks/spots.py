"""No-limit spots drawn by seed, on the river and on small turns: ``python -m benchmarks.spots``.

Writes benchmarks/results/spots.csv, with a split for training, one for validation and one for tests. The column
``game`` has a spot's full name, which describes the spot completely: ``rlccfr.load_game`` accepts it. The command
counts the entries of tables from the betting and the ranges, without building a game. The list was committed before any
algorithm had run on its test spots.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from rlccfr.games.public.cards import RANKS, SUITS
from rlccfr.games.public.spots import rules_named
from rlccfr.games.public.subgame import DEFAULTS, full_name_of

FILE = Path(__file__).parent / "results" / "spots.csv"

CARDS = {"turn": 4, "river": 5}
"""Number of board cards, by the street on which a spot begins."""

MOST_ENTRIES = {"turn": 1_500_000, "river": 100_000}
"""Most entries of a spot's tables: a run of 1,000 iterations takes seconds on the river, and minutes on the turn."""

SPLITS = {
    "train": (100_000, {"river": 40, "turn": 10}),
    "validation": (200_000, {"river": 12, "turn": 4}),
    "test": (300_000, {"river": 16, "turn": 6}),
}
"""First seed of each split, and its number of spots on each street."""

BETS = ("33%", "50%", "75%", "100%", "33%, 75%", "50%, a", "75%, a", "33%, 100%, a", "50%, 150%", "e", "a")
RAISES = ("", "2.5x", "3x", "50%", "100%", "a", "2.5x, a", "60%, a")
DEPTHS = (0.5, 1, 2, 3, 5, 9)
"""Stacks as multiples of the pot."""

WIDTHS = (0.08, 0.15, 0.25, 0.4)
"""Shares of the 169 starting hands in a range."""

WEIGHTS = (1, 1, 1, 0.75, 0.5, 0.25)


def spot(seed: int, street: str) -> str:
    """Return the full name of a spot, which depends only on the seed and the street.

    Examples:
        >>> import rlccfr
        >>> from benchmarks.spots import spot
        >>> rlccfr.load_game(spot(7, "river")).pot
        190.0
    """
    random = Random(f"{street} {seed}")
    deck = [rank + suit for rank in RANKS for suit in SUITS]
    pot = 5 * random.randint(4, 60)
    arguments = {
        "board": "".join(random.sample(deck, CARDS[street])),
        "pot": pot,
        "stack": int(pot * random.choice(DEPTHS)),
        "oop": drawn_range(random),
        "ip": drawn_range(random),
        "bets": random.choice(BETS),
        "raises": random.choice(RAISES),
        "donk": random.choice((None, "", "50%")),
        "add_allin": random.choice((0.0, 1.5)),
        "force_allin": random.choice((0.0, 0.15)),
        "merging": random.choice((0.0, 0.1)),
    }
    # The rules of the game check the arguments, and their name has them in a canonical form.
    return rules_named(full_name_of({**DEFAULTS, **arguments})).full_name


def drawn_range(random: Random) -> str:
    """Return a range: the starting hands with the highest sum of quality and a random number, with random weights."""
    hands = []
    for high, first in enumerate(RANKS):
        for low, second in enumerate(RANKS[: high + 1]):
            for kind in ("",) if high == low else ("s", "o"):
                quality = high + low / 2 + 8 * (high == low) + 1.5 * (kind == "s") + (high - low == 1)
                hands.append((quality + random.gauss(0, 3), first + second + kind))
    num_hands = round(random.choice(WIDTHS) * len(hands))
    return ",".join(f"{hand}:{random.choice(WEIGHTS)}" for _, hand in sorted(hands, reverse=True)[:num_hands])


def spots(split: str, street: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a split's spots of a street, in the order of seeds; those that are too large are left out."""
    first_seed, numbers = SPLITS[split]
    yield from islice(_small_spots(split, street, first_seed), numbers[street])


def _small_spots(split: str, street: str, first_seed: int) -> Iterator[dict[str, Any]]:
    """Yield, endlessly, a row for each seed whose spot is not too large."""
    for seed in count(first_seed):
        name = spot(seed, street)
        size = rules_named(name).size()
        if size.sequences <= MOST_ENTRIES[street]:
            yield {"split": split, "street": street, "seed": seed, "entries": size.sequences, "game": name}


def main() -> None:
    """Write the list."""
    rows = []
    for split in SPLITS:
        for street in CARDS:
            rows += list(spots(split, street))
            print(f"{split}, {street}: {len(rows)} spots", file=sys.stderr, flush=True)
    pd.DataFrame(rows).to_csv(FILE, index=False)


if __name__ == "__main__":
    main()
