"""The games on which controllers are trained, validated and tested."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Literal

Split = Literal["train", "larger", "validation", "test"]

FILE = Path(__file__).parent / "data" / "games.csv"
"""The list of games, which ``python -m benchmarks.control_games`` wrote before any controller ran on a test game."""


@cache
def control_games(split: Split) -> tuple[str, ...]:
    """Return the names of the games of a split, in the form that :func:`rlccfr.load_game` accepts."""
    with FILE.open(newline="") as file:
        return tuple(row["game"] for row in csv.DictReader(file) if row["split"] == split)
