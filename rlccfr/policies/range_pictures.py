"""Pictures of what a player does with each private state at a public node."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.games.public.cards import RANKS, card_sets, places_of_actions
from rlccfr.pictures import action_colour, as_image, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rlccfr.policies.public_policy import PublicPolicy

LEAST_PROBABILITY = 0.01
"""A bid of Bluff is drawn if a player makes it with at least this probability with some roll."""

ONE_LINE = 1.8
"""Height in inches of a picture whose grid has only one row because each hand is one card."""

FONT_SIZES = (7.0, 14.0)
"""Smallest and largest size in points of the hands' names; the smallest is for a row of 13 cells."""

CELL = (12, 24)
"""Height and width of a cell in pixels before scaling."""


def draw_range(policy: PublicPolicy, node: int, axes: Axes | None = None) -> Axes:
    """Draw what a player does at a public node with each private state.

    In hold'em, the picture is a grid of starting hands: suited hands above the diagonal, others below. Each cell is
    divided among the actions by their mean probability over the cell's hands. In Bluff, the picture shows the
    probability of each action for each roll of the player.

    Args:
        policy: the policy.
        node: index of a public node at which a player acts.
        axes: axes to draw on; new ones by default.

    Raises:
        PolicyError: no player acts at the node, or the game's private states have no names.
    """
    game = policy.game
    probabilities = policy.at(node)
    game.require_names()
    if axes is None:
        has_one_card = bool(game.deals) and game.deals[0].deck.private == 1
        axes = new_axes(7.0, ONE_LINE if has_one_card else 6.5)
    player = game.view.nodes["kind"][node]
    axes.set_title(f"player {player} at {game.path(node) or 'the first decision'}")
    moves = game.letters(node)
    if game.deals:
        _draw_hands(policy, node, probabilities, moves, axes)
    else:
        _draw_rolls(game.row_names(node), probabilities, moves, axes)
    return axes


def range_section(policy: PublicPolicy) -> str:
    """Return a section of an HTML page with the picture of a policy's first decision."""
    data = base64.b64encode(as_image(draw_range(policy, 0), "svg")).decode()
    title = f"The first decision on {html.escape(policy.game.name)}"
    return (
        f"<h2>{title}</h2>\n<p>The policy's exploitability is {policy.exploitability():.4g}.</p>\n"
        f'<img alt="{title}" src="data:image/svg+xml;base64,{data}">\n'
    )


def _draw_hands(policy: PublicPolicy, node: int, probabilities: np.ndarray, moves: list[str], axes: Axes) -> None:
    """Draw the grid of starting hands."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    deal = policy.game.deal_at(node)
    deck = deal.deck
    # In a subgame, the deck has only the hands of the range, and the grid shows all hands.
    row_of_hand = np.full(deck.num_hands, -1)
    row_of_hand[deck.hand_numbers] = deal.row_of_hand
    shares, names = range_grid(card_sets(np.arange(deck.size), deck.private), deck.suits, row_of_hand, probabilities)
    places = places_of_actions(moves)
    colours = [action_colour(places[move]) for move in moves]
    height, width = CELL
    # Each cell is a strip of pixels, divided among the actions from left to right.
    picture = np.ones((shares.shape[1] * height, shares.shape[2] * width, 3))
    font_size = float(np.clip(FONT_SIZES[0] * len(RANKS) / shares.shape[2], *FONT_SIZES))
    for (i, j), name in names.items():
        # Edges are rounded, not widths, so that the strips fill the cell.
        edges = np.round(np.cumsum([0, *shares[:, i, j]]) * width).astype(int)
        for colour, begin, end in zip(colours, edges, edges[1:], strict=False):
            picture[i * height : (i + 1) * height, j * width + begin : j * width + end] = to_rgb(colour)
        # The centre of the first pixel has the coordinates (0, 0), so cells begin at -0.5.
        centre = ((j + 0.5) * width - 0.5, (i + 0.5) * height - 0.5)
        axes.text(*centre, name, ha="center", va="center", fontsize=font_size)
    axes.imshow(picture, aspect="auto", interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    for line in range(shares.shape[2] + 1):
        axes.axvline(line * width - 0.5, color="white", linewidth=1)
    for line in range(shares.shape[1] + 1):
        axes.axhline(line * height - 0.5, color="white", linewidth=1)
    words = policy.game.action_words(node)
    legend = [Patch(color=colour, label=word) for colour, word in zip(colours, words, strict=True)]
    axes.legend(handles=legend, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(legend), frameon=False)


def range_grid(
    hands: np.ndarray, suits: int, row_of_hand: np.ndarray, probabilities: np.ndarray
) -> tuple[np.ndarray, dict[tuple[int, int], str]]:
    """Return mean probabilities in a grid of starting hands, (actions, grid rows, grid columns), and the cells' names.

    The highest ranks come first. Cells whose hands are not possible have no name.

    Args:
        hands: (hands, 1 or 2) cards of all hands.
        suits: number of suits; the number of a card is rank times ``suits`` plus suit.
        row_of_hand: (hands,) row of each hand in ``probabilities``, or -1 if the hand is not possible.
        probabilities: (actions, rows) action probabilities.
    """
    rank, suit = np.divmod(hands, suits)
    num_ranks = int(rank.max()) + 1
    low = rank.min(axis=1)
    high = rank.max(axis=1)
    is_suited = (suit == suit[:, :1]).all(axis=1)
    has_one_card = hands.shape[1] == 1
    if has_one_card:
        shape = (1, num_ranks)
        line = np.zeros(len(hands), int)
        column = num_ranks - 1 - high
    else:  # suited hands above the diagonal
        shape = (num_ranks, num_ranks)
        line = num_ranks - 1 - np.where(is_suited, high, low)
        column = num_ranks - 1 - np.where(is_suited, low, high)
    is_possible = row_of_hand >= 0
    cells = (line[is_possible], column[is_possible])
    counts = np.zeros(shape)
    np.add.at(counts, cells, 1)
    sums = np.zeros((len(probabilities), *shape))
    for action, of_action in enumerate(probabilities):
        np.add.at(sums[action], cells, of_action[row_of_hand[is_possible]])
    names = {}
    for i, j, first_rank, second_rank, suited in zip(line, column, high, low, is_suited, strict=True):
        if not counts[i, j]:
            continue
        if has_one_card:
            name = RANKS[first_rank]
        elif first_rank == second_rank:
            name = RANKS[first_rank] + RANKS[second_rank]
        else:
            name = RANKS[first_rank] + RANKS[second_rank] + ("s" if suited else "o")
        names[int(i), int(j)] = name
    return sums / np.maximum(counts, 1), names


def _draw_rolls(rolls: list[str], probabilities: np.ndarray, moves: list[str], axes: Axes) -> None:
    """Draw the probability of each action for each roll.

    Actions whose probability is below :data:`LEAST_PROBABILITY` for every roll are left out.
    """
    drawn = np.flatnonzero(probabilities.max(axis=1) >= LEAST_PROBABILITY)
    probabilities = probabilities[drawn]
    moves = [_in_words(moves[action]) for action in drawn]
    picture = axes.imshow(probabilities, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
    axes.set(xticks=range(len(rolls)), yticks=range(len(moves)), xlabel="the player's roll")
    axes.set_ylabel(f"quantity and face of the bid; bids below {LEAST_PROBABILITY:.0%} are left out")
    axes.set_xticklabels(rolls, rotation=90 if len(rolls) > 10 else 0)
    axes.set_yticklabels(moves)
    axes.figure.colorbar(picture, ax=axes, label="probability")


def _in_words(move: str) -> str:
    """Return an action of Bluff as pictures name it, such as ``2 of 5``; the raw name, ``25``, looks like a roll."""
    return move if move == "call" else f"{move[:-1]} of {move[-1]}"
