"""``rlccfr train --control``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlccfr.cli.console import Interrupted, called, load, print_json, quoted
from rlccfr.cli.progress import progress

ALLOWED = {"games", "control", "rounds", "members", "workers", "seed", "out", "fresh", "json"}
"""Parameters of ``rlccfr train`` that may be given with ``--control``."""


def train_and_print(
    games: Sequence[str] | None, out: Path, settings: Mapping[str, Any], seed: int, fresh: bool, json: bool
) -> None:
    """Train a controller, and print where it is.

    Args:
        settings: those of ``rounds``, ``members`` and ``workers`` that were given.
        fresh: whether to replace a training in the directory.
    """
    for game in games or ():
        load(game)
    with progress("starting"):  # torch takes a moment
        from rlccfr.agents.control.directory import CONTROLLER, holds_controller
        from rlccfr.agents.control.train import MEMBERS, ROUNDS, train_controller
    rounds, members = settings.get("rounds", ROUNDS), settings.get("members", MEMBERS)
    what = f"on {len(games)} game{'s' * (len(games) > 1)}" if games else "on the shipped controller's games"
    try:
        with progress(f"training a controller {what}") as report:
            train_controller(games or None, out, **settings, seed=seed, fresh=fresh, progress=report)
    except KeyboardInterrupt:
        if not holds_controller(out):
            raise Interrupted("interrupted before anything was saved, which is done every minute") from None
        again = "the same command without --fresh" if fresh else "the same command"
        raise Interrupted(
            f"interrupted; {again} goes on, and --controller {quoted(str(out / 'member-0'))} uses what the "
            "first member has learned so far"
        ) from None
    file = out / CONTROLLER
    if json:
        print_json({"controller": str(file), "members": members, "rounds": rounds})
        return
    print(f"{members} training{'s' * (members > 1)} of {rounds:,} rounds; the controller is {file}")
    print(f"use it by: {' '.join(called())} solve GAME --controller {quoted(str(file))}")
