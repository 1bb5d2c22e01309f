"""``rlccfr train --control``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rlccfr.cli.console import Interrupted, called, load, print_json, quoted
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

ALLOWED = {"games", "control", "rounds", "members", "workers", "seed", "out", "fresh", "json"}
"""Parameters of ``rlccfr train`` that may be given with ``--control``."""


def listed(settings: Mapping[str, int]) -> str:
    """Return the names of options in words."""
    *names, last = (f"--{name}" for name in settings)
    return f"{', '.join(names)} and {last}"


def train_and_print(
    games: Sequence[str] | None, out: Path, settings: dict[str, int], seed: int, fresh: bool, json: bool
) -> None:
    """Train a controller, and print where it is.

    Args:
        settings: ``rounds``, ``members`` and ``workers``; 0 for the shipped controller's, and for all cores.
        fresh: whether to replace a training in the directory.
    """
    if min(settings.values()) < 0:
        raise RLCCFRError(f"{listed(settings)} must not be negative")
    for game in games or ():
        load(game)
    with progress("starting"):  # torch takes a moment
        from rlccfr.agents.control.directory import CONTROLLER, holds_controller
        from rlccfr.agents.control.train import MEMBERS, ROUNDS, train_controller
    rounds, members = settings["rounds"] or ROUNDS, settings["members"] or MEMBERS
    what = f"on {len(games)} game{'s' * (len(games) > 1)}" if games else "on the shipped controller's games"
    try:
        with progress(f"training a controller {what}") as report:
            train_controller(
                games or None, out, members=members, rounds=rounds, seed=seed, workers=settings["workers"],
                fresh=fresh, progress=report,
            )  # fmt: skip
    except KeyboardInterrupt:
        if not holds_controller(out):
            raise Interrupted("interrupted before anything was saved, which is done every minute") from None
        raise Interrupted(
            f"interrupted; {out} has the controllers so far, in member-0 and so on, and the same command goes on"
        ) from None
    file = out / CONTROLLER
    if json:
        print_json({"controller": str(file), "members": members, "rounds": rounds})
        return
    print(f"{members} training{'s' * (members > 1)} of {rounds:,} rounds; the controller is {file}")
    print(f"use it by: {' '.join(called())} solve GAME --controller {quoted(str(file))}")
