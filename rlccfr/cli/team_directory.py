"""Default directories of teams that users train."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlccfr.cli.console import RUNS, budget

LONGEST = 100
"""Largest number of characters of each part of a directory's name: the games, the budgets and the weights."""


def new_directory(games: Sequence[str], budgets: Sequence[Mapping[str, Any]], presets: Sequence[str]) -> Path:
    """Return the directory to train a team in, such as ``runs/kuhn`` or ``runs/kuhn-1-second-paper-kuhn``.

    Budgets and reward weights are in the name unless they are the defaults. Characters unfit for file names become
    underscores.

    Raises:
        RLCCFRError: a budget or preset that no team can be trained on.
    """
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.measuring.request import Budget

    parts = []
    if list(budgets) != [budget(None, None, None)]:
        parts.append("+".join(str(Budget(**one)).replace(" ", "-") for one in budgets))
    if list(presets) != ["accuracy"]:
        parts.append("+".join(parse_preset(one).name for one in presets))
    return RUNS / "-".join(_fit(part) for part in ("+".join(games), *parts))


def trained_directory(game: str, limit: Mapping[str, Any] | None, preset: str | None) -> Path | None:
    """Return the directory of a user's team for one game; None if there is none.

    It is the one for the budget and the weights, by default 1,000 iterations and accuracy; otherwise the team for the
    game that was saved last, whatever its budget and weights.

    Raises:
        RLCCFRError: a budget or preset that no team can be trained on.
    """
    from rlccfr.agents.team.team_file import FILE_NAME

    exact = new_directory([game], [limit or budget(None, None, None)], [preset or "accuracy"])
    if (exact / FILE_NAME).is_file():
        return exact
    plain = new_directory([game], [budget(None, None, None)], ["accuracy"]).name
    files = [
        file for file in RUNS.glob(f"*/{FILE_NAME}")
        if file.parent.name == plain or file.parent.name.startswith(f"{plain}-")
    ]  # fmt: skip
    return max(files, key=lambda file: (file.stat().st_mtime, file)).parent if files else None


def _fit(name: str) -> str:
    return re.sub(r"[^\w+.=-]+", "_", name).strip("_")[:LONGEST]
