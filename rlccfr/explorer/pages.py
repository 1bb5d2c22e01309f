"""Pages on which a person walks through a game; each page is a single file that loads nothing from a network."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlccfr.errors import RLCCFRError
from rlccfr.explorer.points import MOST_STATES, PlayerState, Point, any_content
from rlccfr.files import none_for_nan, write_atomically
from rlccfr.pictures import action_colour
from rlccfr.policy import Policy

STATES_PER_CHUNK = 2_000
"""States that a page unpacks at a time, which takes it some ten milliseconds."""

DIGITS = 5
"""Significant digits of numbers on a page, which shows four."""

NOTHING = 1e-4
"""Largest regret, as a share of the payoffs' range, that is drawn as zero."""


def write_page(policy: Policy, path: str | Path, *, start: str = "", most: int = MOST_STATES) -> None:
    """Write a page for a browser, on which a policy is explored; the file is written whole or not at all.

    Args:
        policy: the policy.
        path: the file to write.
        start: path of the page's first point, for a game with a public tree; see :meth:`rlccfr.PublicGame.path`.
        most: for a game with a public tree, number of players' states after which points farther from the start are
            left out.

    Raises:
        GameError: no node has that path, or a start is given for a game without a public tree.
        RLCCFRError: the file can't be written.
    """
    content = any_content(policy, start, most)
    points, chunks = _packed(content.points)
    title = f"A policy of {policy.game.name}"
    index = {
        "title": title,
        "figures": _summary(policy),
        "unit": "chips" if policy.game.big_blind else "in the game's units",
        "small": NOTHING * policy.game.utility_range,
        "ranks": content.ranks,
        "colours": {name: action_colour(place) for name, place in content.places.items()},
        "points": points,
    }
    template = files("rlccfr.explorer") / "page"
    replacements = {
        "title": escape(title),
        "data": "\n".join(_data_element(name, value) for name, value in [("index", index), *chunks]),
        "script": (template / "explore.js").read_text(),
    }
    page = (template / "explore.html").read_text()
    for name, text in replacements.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    write_atomically(Path(path), page.encode(), RLCCFRError)


def _summary(policy: Policy) -> str:
    """Return sentences on a policy's exploitability and value."""
    values = policy.values()
    big_blind = policy.game.big_blind
    if big_blind:
        scale = 1000 / big_blind
        unit = " mbb/g"
    else:
        scale = 1.0
        unit = ""
    # Neither player can do worse in an equilibrium than to allow the opponent's best response.
    least = -scale * values.best_response[1]
    most = scale * values.best_response[0]
    summary = (
        f"Its exploitability is {scale * values.exploitability:.4g}{unit}, and its value to player 0 is "
        f"{scale * values.game[0]:.4g}{unit}; an equilibrium's value is between {least:.6g} and {most:.6g}{unit}."
    )
    if big_blind:
        summary += " One mbb/g is a thousandth of a big blind per game."
    return summary


def _packed(points: Iterable[Point]) -> tuple[list[list[Any]], list[tuple[str, Any]]]:
    """Return the page's points as rows, and its states in chunks, each with the name of its HTML element.

    The browser reads all points at once, and unpacks a chunk when a point whose states are in it is opened.
    """
    rows: list[list[Any]] = []
    chunks: list[tuple[str, Any]] = []
    states: dict[int, Any] = {}
    num_states = 0
    for number, point in enumerate(points):
        states_of_point = len(point.states) + len(point.opponent_states)
        if states_of_point and num_states + states_of_point > STATES_PER_CHUNK and states:
            chunks.append((f"chunk{len(chunks)}", states))
            states = {}
            num_states = 0
        if states_of_point:
            states[number] = [list(map(_state_row, point.states)), list(map(_state_row, point.opponent_states))]
            num_states += states_of_point
        chunk = len(chunks) if states_of_point else None
        rows.append([point.parent, point.move, point.actor, _rounded(point.share), _rounded(point.value), chunk])
    return rows, [*chunks, (f"chunk{len(chunks)}", states)]


def _state_row(state: PlayerState) -> Sequence[Any]:
    """Return a state as the page's script reads it; the value and the actions only for the player who acts."""
    row = [state.text, _rounded(state.share), state.words if state.words != state.text else ""]
    if not state.actions:
        return row
    actions = [[name, _rounded(probability), _rounded(gain)] for name, probability, gain in state.actions]
    return [*row, _rounded(state.value), actions]


def _rounded(value: float) -> float | None:
    return none_for_nan(float(f"{value:.{DIGITS}g}"))  # type: ignore[no-any-return]


def _data_element(name: str, value: Any) -> str:
    """Return an HTML element that holds a value as compressed JSON, in base64, whose characters need no escape."""
    data = gzip.compress(json.dumps(value, allow_nan=False, separators=(",", ":")).encode(), mtime=0)
    return f'<script type="text/plain" id="{name}">{base64.b64encode(data).decode()}</script>'
