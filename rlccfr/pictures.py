"""Pictures of runs and of small games, drawn with Matplotlib."""

from __future__ import annotations

import io
from colorsys import hls_to_rgb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.errors import GameError, RLCCFRError
from rlccfr.files import require_writable, write_atomically
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.policy import EXACT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from rlccfr.policy import Policy

LARGEST = 400
"""Largest number of histories in a readable picture of a game."""

UNITS = {"iteration": "iterations", "nodes": "histories touched", "cpu_seconds": "engine CPU seconds"}
COLOURS = {0: "#0072b2", 1: "#d55e00", CHANCE: "0.6"}  # Okabe and Ito's, safe for colour-blind readers
ACTIONS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d1d", "#7a869a")
"""Colours of a game's first actions; the first six are Okabe and Ito's."""

NAMES = {0: "player 0", 1: "player 1", CHANCE: "chance"}


def action_colour(place: int) -> str:
    """Return the colour of an action, the same at all decisions.

    Args:
        place: index of the action among all actions of the game.
    """
    if place < len(ACTIONS):
        return ACTIONS[place]
    golden_ratio = 0.618034  # steps of this fraction of a circle keep hues apart, however many there are
    red_green_blue = hls_to_rgb(place * golden_ratio % 1, 0.45, 0.5)
    return "#" + "".join(f"{round(255 * intensity):02x}" for intensity in red_green_blue)


def new_axes(width: float = 6.4, height: float = 4.8) -> Axes:
    """Return the axes of a new figure, ``width`` x ``height`` inches; a notebook shows the figure automatically.

    When the lines have used up all colours, further lines are dashed, then dotted.
    """
    import matplotlib.pyplot as plt
    from cycler import cycler

    axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    colours = plt.rcParams["axes.prop_cycle"].by_key().get("color", ["C0"])
    axes.set_prop_cycle(cycler(linestyle=["-", "--", ":"]) * cycler(color=colours))
    return axes


def checked_picture(path: Path) -> Path:
    """Return ``path`` if a picture can be saved there.

    Raises:
        RLCCFRError: the suffix is not that of a picture format, or the file can't be written.
    """
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in formats:
        raise RLCCFRError(f"a picture is written as .png, .svg or .pdf, not as {path.suffix or path.name!r}")
    require_writable(path)
    return path


def save(axes: Axes, path: Path) -> None:
    """Write the figure of ``axes`` to a file, whole or not at all, and close the figure.

    Raises:
        RLCCFRError: the file can't be written.
    """
    write_atomically(path, as_image(axes, path.suffix.removeprefix(".")), RLCCFRError)


def as_image(axes: Axes, kind: str) -> bytes:
    """Return the figure of ``axes`` as an image in the format ``kind``, such as ``svg``, and close the figure."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    figure = axes.figure
    assert isinstance(figure, Figure)  # no function here draws on a part of a figure
    # A date, or random identifiers in an SVG file, would make equal pictures differ.
    undated = {"Date": None} if kind == "svg" else None
    with plt.rc_context({"svg.hashsalt": "rlccfr"}):
        figure.savefig(picture, format=kind, metadata=undated)
    plt.close(figure)
    return picture.getvalue()


def draw_curve(
    curve: pd.DataFrame,
    x: str = "iteration",
    axes: Axes | None = None,
    label: str | None = None,
    title: str = "",
    *,
    current: bool = False,
) -> Axes:
    """Draw the exploitability of the average policy during a run, on logarithmic scales, and return the axes.

    Args:
        curve: curve of a :class:`rlccfr.RunResult`.
        x: ``"iteration"``, ``"nodes"`` or ``"cpu_seconds"``.
        axes: axes to draw on; new ones by default.
        label: name of the run in the legend.
        title: title of new axes.
        current: whether to draw the current policy's exploitability as well, as a thinner line of the same colour.

    Raises:
        RLCCFRError: ``x`` is not one of the three.
    """
    if x not in UNITS:
        raise RLCCFRError(f"x must be one of {', '.join(UNITS)}, not {x!r}")
    if axes is None:
        axes = new_axes()
        axes.set_title(title)
    average_label = "average policy" if current and label is None else label
    # A logarithmic axis has no 0. Curves begin near the range of payoffs, whatever their unit.
    floor = EXACT * (curve["exploitability"].max() or 1.0)
    (line,) = axes.loglog(curve[x], curve["exploitability"].clip(lower=floor), label=average_label)
    if current:
        # The current policy is not measured at every point of a curve.
        measured = curve[curve["exploitability_current"].notna()]
        exploitability = measured["exploitability_current"].clip(lower=floor).to_numpy()
        current_label = "current policy" if label is None else f"{label}, current policy"
        draw_beside(axes, line, measured[x].to_numpy(), exploitability, current_label)
    axes.set(xlabel=UNITS[x], ylabel="exploitability (NashConv / 2)")
    if average_label is not None:
        axes.legend()
    return axes


def draw_beside(axes: Axes, line: Line2D, x: np.ndarray, y: np.ndarray, label: str) -> None:
    """Draw a second line on the same axes as a first one, thinner and in the first line's colour and style.

    Args:
        axes: axes of both lines.
        line: the first line.
        x, y: (points,) coordinates of the second line.
        label: name of the second line in the legend.
    """
    # Since colour and style are given, Matplotlib does not advance to the next colour.
    axes.plot(x, y, color=line.get_color(), linestyle=line.get_linestyle(), linewidth=0.8, label=label)


def draw_tree(game: GameTree, policy: Policy | None = None, axes: Axes | None = None) -> Axes:
    """Draw all histories of a small game, with the indices of infosets and the payoffs, and return the axes.

    Args:
        game: the compiled game.
        policy: policy whose probabilities set the lines' widths: the more probable an action, the thicker its line. By
            default, all lines are equally wide.
        axes: axes to draw on; new ones by default.

    Raises:
        TypeError: ``game`` is not a game.
        GameError: the game has more histories than :data:`LARGEST`, or is not stored as a tree of histories.
    """
    from rlccfr.games.flat_tree import checked_tree
    from rlccfr.games.openspiel_policies import edge_names

    checked_tree(game, "a drawing of the tree")
    if game.num_histories > LARGEST:
        raise GameError(f"{game.name!r} has {game.num_histories:,} histories, but at most {LARGEST} can be drawn")
    x, y = _positions(game.histories)
    num_leaves = int((game.histories["actor"] == TERMINAL).sum())
    axes = axes if axes is not None else new_axes(1.6 * (game.depth + 1), max(2.5, 0.26 * num_leaves))
    names = edge_names(game)
    probabilities = _probabilities(game, policy)
    behind_names = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    for number, record in enumerate(game.histories):
        # The lines to the children, with the actions' names nearer to the children.
        for child in _children(record):
            line_width = 0.3 + 2.2 * probabilities[child]
            axes.plot(x[[number, child]], y[[number, child]], color="0.5", linewidth=line_width, zorder=1)
            name_place = (0.4 * x[number] + 0.6 * x[child], 0.4 * y[number] + 0.6 * y[child])
            axes.annotate(names[child], name_place, fontsize=8, ha="center", va="center", bbox=behind_names)
        # The payoff of a leaf, or the number of an infoset.
        place = (x[number], y[number])
        if record["actor"] == TERMINAL:
            payoff = f"{game.utility[number]:+g}" if game.utility[number] else "0"
            axes.annotate(payoff, place, (4, 0), textcoords="offset points", fontsize=9, va="center")
        elif record["actor"] < CHANCE:
            axes.annotate(
                str(record["infoset"]),
                place,
                fontsize=8,
                color="white",
                ha="center",
                va="center_baseline",
                zorder=4,
            )
    for actor, colour in COLOURS.items():
        of_actor = np.flatnonzero(game.histories["actor"] == actor)
        axes.scatter(x[of_actor], y[of_actor], s=150, color=colour, label=NAMES[actor], zorder=3)
    axes.set_axis_off()
    size = f"{game.num_histories:,} histories, {game.num_infosets:,} numbered infosets"
    axes.set_title(f"{game.name}: {size}; payoffs to player 0")
    axes.legend(loc="upper left", frameon=False)
    return axes


def _positions(histories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each history's coordinates, x and y, (histories,) each.

    A child lies one step to the right of its parent. Leaves lie one below another, and other histories at the mean
    height of their children.
    """
    x = np.zeros(len(histories))
    y = np.zeros(len(histories))
    num_leaves = 0

    def place(number: int, depth: int) -> None:
        nonlocal num_leaves
        x[number] = depth
        children = _children(histories[number])
        for child in children:
            place(child, depth + 1)
        if len(children):
            y[number] = y[children].mean()
        else:
            # Leaves are placed in the order of the walk, so that no two lines cross.
            y[number] = -num_leaves
            num_leaves += 1

    place(0, 0)
    return x, y


def _children(record: Any) -> range:
    first_child = int(record["first_child"])
    return range(first_child, first_child + int(record["num_children"]))


def _probabilities(game: GameTree, policy: Policy | None) -> np.ndarray:
    """Return the probability of the action that leads to each history, (histories,); without a policy, 0.5 for all."""
    probabilities = np.full(game.num_histories, 0.5)
    if policy is None:
        return probabilities
    for record in game.histories:
        children = _children(record)
        if record["actor"] < CHANCE:
            sequences = record["first_sequence"] + np.arange(len(children))
            probabilities[children] = policy.probabilities[sequences]
        else:
            probabilities[children] = game.probability[children]
    return probabilities
