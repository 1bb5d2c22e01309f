"""Default directories of teams that users train."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlccfr.cli.console import RUNS, budget, called, quoted

LONGEST = 100
"""Largest number of characters of each part of a directory's name: the games, the budgets and the weights."""


def new_directory(
    games: Sequence[str], budgets: Sequence[Mapping[str, Any]], presets: Sequence[str], scale: str | None = None
) -> Path:
    """Return the directory to train a team in, such as ``runs/kuhn`` or ``runs/kuhn-1-second-paper-kuhn``.

    Budgets and reward weights are in the name unless they are the defaults, and so is the scale of e unless it is the
    weights' own. Characters unfit for file names become underscores.

    Raises:
        RLCCFRError: a budget, preset or scale that no team can be trained on.
    """
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.measuring.request import Budget

    parts = []
    if list(budgets) != [budget(None, None, None)]:
        parts.append("+".join(str(Budget(**one)).replace(" ", "-") for one in budgets))
    weights = [parse_preset(one) for one in presets]
    if list(presets) != ["accuracy"]:
        parts.append("+".join(one.name for one in weights))
    scaled = [parse_preset(one, scale) for one in weights]
    if scale is not None and scaled != weights:
        parts.append(scale)
    return RUNS / "-".join(_fit(part) for part in ("+".join(games), *parts))


def trained_directory(
    game: str, limit: Mapping[str, Any] | None, preset: str | None, scale: str | None = None
) -> Path | None:
    """Return the directory in ``runs`` of a user's team that knows a game; None if there is none.

    Teams that know the budget and the weights asked for go first, then those saved last. Files that can't be read do
    not count.

    Args:
        limit: the budget asked for; None for any.
        preset: the weights asked for; None for any.
        scale: the scale of e asked for, with weights; None for the weights' own.

    Raises:
        RLCCFRError: a budget, preset or scale that no team can be trained on.
    """
    from rlccfr.agents.team.team_file import FILE_NAME, learned_on
    from rlccfr.envs.episode import parse_preset
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.games.names import short_name

    asked, weights = limit and Budget(**limit), preset and parse_preset(preset, scale)
    found = []
    for file in RUNS.glob(f"*/{FILE_NAME}"):
        known = learned_on(file)
        if known is not None and short_name(game) in map(short_name, known.games):
            fits = asked in (None, *known.budgets), weights in (None, *known.presets)
            found.append((*fits, file.stat().st_mtime, file.parent))
    return max(found)[-1] if found else None


def team_command(game: str, directory: Path) -> str:
    """Return the command that asks the team in a directory which algorithm to take for a game."""
    return " ".join([*called(), "recommend", quoted(game), "--team", quoted(str(directory))])


def _fit(name: str) -> str:
    return re.sub(r"[^\w+.=-]+", "_", name).strip("_")[:LONGEST]
