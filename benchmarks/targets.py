"""The targets: how many times as fast this engine is to be as the fastest peer, on one thread.

The targets of exact CFR+ were written for the release 0.0.0.dev17 of noregret, which is far faster than earlier peers.
That of CFR+ beside SciPy on Leduc was written at the same time. All others are older.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.compiled import GAMES

_EXACT = (10, 40, 400, 200, 2500)
TARGETS: dict[str, dict[str, float]] = {
    row: dict(zip(GAMES, figures, strict=True))
    for row, figures in {
        "CFR+, exact": (40, 40, 240, 25, 80),
        "DCFR, exact": _EXACT,
        "PCFR+, exact": _EXACT,
        "CFR+, beside SciPy": (100, 100, 40, 15, 25),
        "external sampling": (20, 20, 70, 60, 60),
        "outcome sampling": (15, 15, 20, 12, 20),
        "exploitability": (1, 1, 10, 20, 30),
    }.items()
}

SHARE = 0.7
"""Share of a target that the lower bound of a measured ratio must reach."""


def ratio_row(record: Mapping[str, Any]) -> str:
    """Return a measured ratio as a row of the table in docs/benchmarks.md and in the README."""
    peer, mark = record["peer"], " **missed**" if record["missed"] else ""
    return (
        f"| {record['row']} | {record['game']} | {record['per second']['rlccfr']:.3g} | "
        f"{peer}: {record['per second'][peer]:.3g} | {record['ratio']:.3g} | "
        f"{record['low']:.3g} to {record['high']:.3g} | {record['target']:g}{mark} |"
    )
