"""Keeps the finished parts of a long measurement, so that it can be interrupted and continued."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rlccfr.files import write_atomically

FILE = Path(__file__).parent / "results" / "default-unfinished.jsonl"
"""File of the parts of :mod:`benchmarks.default`: of the games whose measurement is not finished.

It is committed, since a game takes hours, so that another clone can go on. All turns to one target are one part, so one
processor makes them. Earlier parts only select the finalists.
"""


def kept(game: str, part: str, measure: Callable[[], Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of a part of a game's measurement, from :data:`FILE` or measured and written there.

    Parts are not told apart by the code that has measured them: after a change of the code, call :func:`forget`.
    """
    for line in _parts():
        if (line["game"], line["part"]) == (game, part):
            rows: list[dict[str, Any]] = line["rows"]
            return rows
    rows = list(measure())
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with FILE.open("a") as file:
        # A command that was killed while it wrote has left an incomplete line, which ends here.
        file.write("\n" + json.dumps({"game": game, "part": part, "rows": rows}) + "\n")
    return rows


def _parts() -> list[dict[str, Any]]:
    """Return what :func:`kept` has written: a game, a part of its measurement, and the part's rows."""
    parts = []
    for line in FILE.read_text().splitlines() if FILE.exists() else ():
        try:
            parts.append(json.loads(line))
        except ValueError:  # an empty or incomplete line
            continue
    return parts


def forget(game: str) -> None:
    """Remove what :func:`kept` has written of a game."""
    lines = [json.dumps(line) + "\n" for line in _parts() if line["game"] != game]
    write_atomically(FILE, "".join(lines).encode())
