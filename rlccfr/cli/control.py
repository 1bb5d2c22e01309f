"""``rlccfr train --control``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlccfr.cli.console import Interrupted, called, load, print_json, progress, quoted
from rlccfr.errors import RLCCFRError

ALLOWED = {"games", "control", "rounds", "workers", "seed", "out", "fresh", "json"}
"""Parameters of ``rlccfr train`` that may be given with ``--control``."""


def train_and_print(
    games: Sequence[str] | None, out: Path, rounds: int, seed: int, workers: int, fresh: bool, json: bool
) -> None:
    """Train a controller, and print where it is.

    Args:
        rounds: number of rounds; 0 for that of the shipped controller.
        fresh: whether to replace a training in the directory.
    """
    if rounds < 0 or workers < 0:
        raise RLCCFRError("--rounds and --workers must not be negative")
    for game in games or ():
        load(game)
    with progress("starting"):  # torch takes a moment
        from rlccfr.agents.control.train import ROUNDS, train_controller
        from rlccfr.agents.control.training_file import CONTROLLER
    rounds = rounds or ROUNDS
    what = f"on {len(games)} game{'s' * (len(games) > 1)}" if games else "on the shipped controller's games"
    try:
        with progress(f"training a controller {what}") as report:
            train_controller(
                games or None, out, rounds=rounds, seed=seed, workers=workers, fresh=fresh, progress=report
            )
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; the same command goes on from what was saved in {out}") from None
    file = out / CONTROLLER
    if json:
        print_json({"controller": str(file), "rounds": rounds})
        return
    print(f"{rounds:,} rounds; the controller is {file}")
    rule = f'controlled(controller="{file}")'
    print(f"use it by: {' '.join(called())} solve GAME --update-rule {quoted(rule)}")
