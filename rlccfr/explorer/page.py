"""Pages on which a person walks through a game: one file, which loads nothing from a network."""

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
from rlccfr.explorer.points import Content, Held, Point
from rlccfr.files import none_for_nan, write_atomically
from rlccfr.pictures import action_colour
from rlccfr.policy import Policy

STATES_PER_CHUNK = 2_000
"""States that a page unpacks at a time, which takes it some ten milliseconds."""

DIGITS = 5
"""Significant digits of numbers on a page, which shows four."""

NOTHING = 1e-4
"""Largest regret, as a share of the payoffs' range, that is drawn as none."""


def write(policy: Policy, path: Path, content: Content) -> None:
    """Write a page on which a policy is explored, whole or not at all.

    Raises:
        RLCCFRError: the file can't be written.
    """
    points, chunks = _packed(content.points)
    title = f"A policy of {policy.game.name}"
    index = {
        "title": title,
        "figures": _figures(policy),
        "unit": "chips" if policy.game.big_blind else "in the game's units",
        "small": NOTHING * policy.game.utility_range,
        "ranks": content.ranks,
        "colours": {name: action_colour(place) for name, place in content.places.items()},
        "points": points,
    }
    folder = files("rlccfr.explorer") / "page"
    parts = {
        "title": escape(title),
        "data": "\n".join(_element(name, value) for name, value in [("index", index), *chunks]),
        "script": (folder / "explore.js").read_text(),
    }
    page = (folder / "explore.html").read_text()
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    write_atomically(path, page.encode(), RLCCFRError)


def _figures(policy: Policy) -> str:
    values, blind = policy.values(), policy.game.big_blind
    scale, unit = (1000 / blind, " mbb/g") if blind else (1.0, "")
    least, most = -scale * values.best_response[1], scale * values.best_response[0]
    told = (
        f"Its exploitability is {scale * values.exploitability:.4g}{unit}, and its value to player 0 is "
        f"{scale * values.game[0]:.4g}{unit}; an equilibrium's value is between {least:.6g} and {most:.6g}{unit}."
    )
    return told + (" One mbb/g is a thousandth of a big blind per game." if blind else "")


def _packed(found: Iterable[Point]) -> tuple[list[list[Any]], list[tuple[str, Any]]]:
    """Return the page's points, and its chunks of states by the names of their elements."""
    points: list[list[Any]] = []
    chunks: list[tuple[str, Any]] = []
    states: dict[int, Any] = {}
    size = 0
    for number, point in enumerate(found):
        held = len(point.states) + len(point.others)
        if held and size + held > STATES_PER_CHUNK and states:
            chunks.append((f"chunk{len(chunks)}", states))
            states, size = {}, 0
        if held:
            states[number] = [list(map(_state, point.states)), list(map(_state, point.others))]
            size += held
        share, value = _short(point.share), _short(point.value)
        points.append([point.above, point.move, point.actor, share, value, len(chunks) if held else None])
    return points, [*chunks, (f"chunk{len(chunks)}", states)]


def _state(held: Held) -> Sequence[Any]:
    begin = [held.text, _short(held.share), held.words if held.words != held.text else ""]
    if not held.actions:
        return begin
    actions = [[name, _short(likely), _short(gain)] for name, likely, gain in held.actions]
    return [*begin, _short(held.value), actions]


def _short(value: float) -> float | None:
    return none_for_nan(float(f"{value:.{DIGITS}g}"))  # type: ignore[no-any-return]


def _element(name: str, value: Any) -> str:
    """Return an element that holds a value, packed: JSON, compressed, in letters that need no escape."""
    data = gzip.compress(json.dumps(value, allow_nan=False, separators=(",", ":")).encode(), mtime=0)
    return f'<script type="text/plain" id="{name}">{base64.b64encode(data).decode()}</script>'
