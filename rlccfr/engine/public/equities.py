"""All-in equities of hold'em ranges: the mean share of the pot that hands win at showdown, over all boards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.public.cards import ByHand, cards_named
from rlccfr.games.public.ranges import (
    HOLDEM_DECK,
    images_of,
    meets_any,
    possible_weights,
    range_symmetries,
    range_weights,
)
from rlccfr.kernels.public.hand_strength import BOARD, DECK, add_boards

KNOWN_CARDS = (0, 3, 4, 5)
"""Numbers of board cards that may be known."""

HANDS_PER_CALL = 5_000_000
"""Number of hands, summed over boards, after which a kernel returns, so that Ctrl-C takes effect in half a second."""


@dataclass(frozen=True, eq=False)
class Equity:
    """Equities of two ranges against each other, with both players' hands dealt in proportion to their weights.

    Attributes:
        equity: each player's share of the pot; they sum to 1.
        tie: probability that the pot is shared.
        hands: for each player, the equity of each of its hands, by the hand's name, from the deck's highest hand down.
            A name is found with its cards in either order. A hand that can't be dealt together with any of the
            opponent's is left out.
        weights: for each player, the weight of each of these hands, by the hand's name.
    """

    equity: tuple[float, float]
    tie: float
    hands: tuple[dict[str, float], dict[str, float]]
    weights: tuple[dict[str, float], dict[str, float]]


def equity(first: str, second: str, board: str = "") -> Equity:
    """Return the exact equities of two ranges of Texas hold'em hands.

    Args:
        first, second: the players' ranges, such as ``"AhKh"`` or ``"QQ+,AKs:0.5"``; see
            :mod:`rlccfr.games.public.ranges`.
        board: the board's known cards, such as ``"Td9d6h"``: none, three, four or five.

    Raises:
        GameError: a range or the board can't be read, or no two hands of the ranges can be dealt together.

    Examples:
        >>> import rlccfr
        >>> result = rlccfr.equity("AhKh", "QQ+,AKs", board="Td9d6h")
        >>> round(result.equity[0], 4)
        0.2537
    """
    known = cards_named(board)
    if len(known) not in KNOWN_CARDS:
        raise GameError(f"the board {board!r} has {len(known)} cards; name none, or three to five, such as 'Td9d6h'")
    all_weights = np.stack([possible_weights(range_weights(text), known) for text in (first, second)])
    hand_index = np.flatnonzero(all_weights.any(axis=0))
    weights = np.ascontiguousarray(all_weights[:, hand_index])
    hands = HOLDEM_DECK.hands[hand_index]
    may_meet = meets_any(hands, weights)
    if not may_meet.any():
        where = f" on {board}" if board else ""
        raise GameError(f"no hand of {first!r} can be dealt together with a hand of {second!r}{where}")
    # The sums are computed as differences, so a hand that meets no other has sums of 0 only up to rounding errors.
    beaten, tied, met = np.where(may_meet, _sums(known, hands, weights, range_symmetries(known, all_weights)), 0.0)
    pairs_met = float((weights[0] * met[0]).sum())
    first_share = float((weights[0] * (beaten[0] + tied[0] / 2)).sum()) / pairs_met
    return Equity(
        equity=(first_share, 1.0 - first_share),
        tie=float((weights[0] * tied[0]).sum()) / pairs_met,
        hands=_by_name(hand_index, may_meet, (beaten + tied / 2) / np.where(may_meet, met, 1.0)),
        weights=_by_name(hand_index, may_meet, weights),
    )


def _sums(known: list[int], hands: np.ndarray, weights: np.ndarray, permutations: np.ndarray) -> np.ndarray:
    """Return, for each hand of each player, the opponent's weight that it beats, ties with and can be dealt against.

    Returns:
        (3, 2, hands) sums over all boards.
    """
    num_hands = len(hands)
    num_missing = BOARD - len(known)
    board = np.array([*known, *[0] * num_missing])
    remaining_cards = np.setdiff1d(np.arange(DECK), known)
    board_indices = np.arange(num_missing)
    strength = np.zeros(num_hands, np.int64)
    order = np.zeros(num_hands, np.int64)
    totals = np.zeros((3, 2, DECK + 1))
    sums = np.zeros((3, 2, num_hands))
    boards_per_call = max(HANDS_PER_CALL // num_hands, 1)
    while add_boards(
        board, remaining_cards, board_indices, boards_per_call, permutations, hands, weights, strength, order, totals,
        sums,
    ):  # fmt: skip
        pass
    # Each board that was evaluated stands for its images. A hand's sum over a board's images is the mean, over the
    # permutations, of what the hand's images have on that board.
    mean_sums: np.ndarray = np.mean([sums[:, :, images_of(permutation, hands)] for permutation in permutations], axis=0)
    return mean_sums


def _by_name(
    hand_index: np.ndarray, shown: np.ndarray, values: np.ndarray
) -> tuple[dict[str, float], dict[str, float]]:
    """Return each player's values by the names of its hands, the deck's highest hand first.

    Args:
        hand_index: (hands,) each hand's index in ``HOLDEM_DECK.hands``.
        shown: (2, hands) whether a player's hand is included.
        values: (2, hands) each player's value for each hand.
    """
    names = HOLDEM_DECK.first()
    by_name = [
        ByHand(
            {
                names.hand_name(int(hand_index[k])): float(values[player, k])
                for k in np.flatnonzero(shown[player])[::-1].tolist()
            }
        )
        for player in range(2)
    ]
    return by_name[0], by_name[1]
