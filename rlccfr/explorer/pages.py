"""Pages on which to walk through a game in a browser; each is a single file that loads nothing from a network."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rlccfr.errors import RLCCFRError
from rlccfr.explorer.points import ENDS, MOST_STATES, PlayerState, Point, any_content
from rlccfr.files import none_for_nan, write_atomically
from rlccfr.games.words import payoff_unit
from rlccfr.pictures import action_colour
from rlccfr.policy import Policy

STATES_PER_CHUNK = 2_000
"""Number of states that a page unpacks at a time, which takes some ten milliseconds."""

DIGITS = 5
"""Significant digits of the numbers in a page's file; the page shows four."""

NOTHING = 1e-4
"""Largest regret, as a share of the range of payoffs, that the page shows as zero."""


BYTES_PER_STATE = 10
"""Bytes of a player's state in a page's file, without its actions; a mean over many pages, as is BYTES_PER_ACTION.

If the texts of states are long, or only a few points of a game fit on the page, a state takes up to twice as many.
"""

BYTES_PER_ACTION = 9
"""Bytes of an action in a page's file, averaged over the states of both players.

Only the states of the player who acts have actions.
"""


class PredictedSize(NamedTuple):
    """The predicted size of a page.

    Attributes:
        states: number of states of both players.
        num_bytes: size of the file in bytes.
    """

    states: int
    num_bytes: float

    def __str__(self) -> str:
        return f"some {self.num_bytes / 1e6:.2g} MB, for {self.states:,} states"


class PageSize(NamedTuple):
    """The size of a page.

    Attributes:
        points: number of points of the game.
        states: number of states of both players at these points.
        num_bytes: size of the file in bytes.
        whole: whether the page shows all play below its start, with nothing left out.
    """

    points: int
    states: int
    num_bytes: int
    whole: bool

    def __str__(self) -> str:
        return f"{self.points:,} points, {self.states:,} states, {self.num_bytes / 1e6:.3g} MB"


def predicted_size(policy: Policy, *, start: str = "", most: int = MOST_STATES) -> PredictedSize:
    """Predict the size of a page from the game's sizes, without making the page.

    Args:
        policy, start, most: as for :func:`write_page`.

    Raises:
        GameError: no node has the path ``start``, or the game's form has no pages.

    Examples:
        >>> import rlccfr
        >>> str(predicted_size(rlccfr.Policy.uniform(rlccfr.load_game("leduc"))))
        'some 0.058 MB, for 1,872 states'
    """
    game: Any = policy.game  # of any form
    game.form.part("page")  # raises an error for a form without pages
    states = 2 * game.num_infosets  # at each point, the states of both players are shown
    if not game.form.has_histories:
        if start:
            states = game.form.part("states_below")(game, start)
        states = min(states, most)
    actions = game.num_sequences / game.num_infosets  # per infoset of the player who acts
    return PredictedSize(states, states * (BYTES_PER_STATE + BYTES_PER_ACTION * actions))


def write_page(policy: Policy, path: str | Path, *, start: str = "", most: int = MOST_STATES) -> PageSize:
    """Write a page on which to explore a policy in a browser; the file is written completely or not at all.

    Args:
        policy: the policy.
        path: the file to write.
        start: for a game that is not compiled, the path of the page's first point. In a public-tree game, it is a path
            as :meth:`rlccfr.PublicGame.path` returns it; in hold'em in buckets, the actions, such as ``cc/r``.
        most: for a game that is not compiled, the largest number of states of both players. Points farther from the
            start are left out, or have no states.

    Returns:
        The size of the page.

    Raises:
        GameError: no node has the path ``start``, a start is given for a compiled game, or the game's form has no
            pages.
        PolicyError: the private states of a game with a public tree have no names.
        RLCCFRError: the file can't be written.
    """
    content = any_content(policy, start, most)
    points, chunks, num_states = _packed(content.points)
    title = f"A policy of {policy.game.name}"
    index = {
        "title": title,
        "figures": _summary(policy),
        "unit": payoff_unit(policy.game),
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
    data = page.encode()
    write_atomically(Path(path), data, RLCCFRError)
    # If the limit was reached, some point at which the game goes on has no points below it.
    points_above = {point[0] for point in points}
    is_whole = all(number in points_above for number, point in enumerate(points) if point[2] != ENDS)
    return PageSize(len(points), num_states, len(data), is_whole)


def _summary(policy: Policy) -> str:
    """Return sentences about a policy's exploitability and value."""
    values = policy.values()
    big_blind = policy.game.big_blind
    if big_blind:
        scale = 1000 / big_blind
        unit = " mbb/g"
    elif policy.game.pot:
        scale = 100 / policy.game.pot
        unit = " % of the pot"
    else:
        scale = 1.0
        unit = ""
    # In an equilibrium, each player gets at least what its present policy gets against a best response.
    least = -scale * values.best_response[1]
    most = scale * values.best_response[0]
    bounds = [f"{bound:.6g}" for bound in (least, most)]
    equilibrium_value = bounds[0] if bounds[0] == bounds[1] else f"between {bounds[0]} and {bounds[1]}"
    summary = (
        f"Its exploitability is {scale * values.exploitability:.4g}{unit}, and its value to player 0 is "
        f"{scale * values.game[0]:.4g}{unit}; an equilibrium's value is {equilibrium_value}{unit}."
    )
    if big_blind:
        summary += " One mbb/g is a thousandth of a big blind per game."
    if policy.game.pot:
        summary += " A value of 0 is half of the pot; other programs add half of the pot to their values."
    return summary


def _packed(points: Iterable[Point]) -> tuple[list[list[Any]], list[tuple[str, Any]], int]:
    """Return the page's points as rows, the states in chunks with names of HTML elements, and the number of states.

    The browser reads all points at once. It unpacks a chunk when a point is opened whose states are in the chunk.
    """
    rows: list[list[Any]] = []
    chunks: list[tuple[str, Any]] = []
    states: dict[int, Any] = {}
    states_in_chunk = 0
    num_states = 0
    for number, point in enumerate(points):
        states_of_point = len(point.states) + len(point.opponent_states)
        num_states += states_of_point
        # A point's states stay in one chunk, even if they alone exceed the limit.
        if states_of_point and states_in_chunk + states_of_point > STATES_PER_CHUNK and states:
            chunks.append((f"chunk{len(chunks)}", states))
            states = {}
            states_in_chunk = 0
        if states_of_point:
            states[number] = [list(map(_state_row, point.states)), list(map(_state_row, point.opponent_states))]
            states_in_chunk += states_of_point
        # The chunk being filled is not in the list yet, so its number is the list's length.
        chunk = len(chunks) if states_of_point else None
        rows.append([point.parent, point.move, point.actor, _rounded(point.share), _rounded(point.value), chunk])
    return rows, [*chunks, (f"chunk{len(chunks)}", states)], num_states


def _state_row(state: PlayerState) -> Sequence[Any]:
    """Return a state in the form that the page's script reads, with value and actions only for the player who acts."""
    row = [state.text, _rounded(state.share), state.words if state.words != state.text else ""]
    if not state.actions:
        return row
    actions = [[name, _rounded(probability), _rounded(gain)] for name, probability, gain in state.actions]
    return [*row, _rounded(state.value), actions]


def _rounded(value: float) -> float | None:
    return none_for_nan(float(f"{value:.{DIGITS}g}"))  # type: ignore[no-any-return]


def _data_element(name: str, value: Any) -> str:
    """Return an HTML element with a value as compressed JSON in base64, whose characters need not be escaped."""
    data = gzip.compress(json.dumps(value, allow_nan=False, separators=(",", ":")).encode(), mtime=0)
    return f'<script type="text/plain" id="{name}">{base64.b64encode(data).decode()}</script>'
