"""Names of games that are built as public trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlccfr.errors import GameError
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.parameters import Parametrised, parsed, parts_of
from rlccfr.games.public.bluff import Bluff
from rlccfr.games.public.deals import Deck
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.view import PublicGame

MOST_BOARD_CARDS = 5
"""Largest number of board cards; hands are compared by at most seven cards."""

BYTES = 8
"""Bytes per table entry of a run: two numbers in single precision."""


@dataclass(frozen=True)
class PublicGames(Parametrised):
    """Games with parameters that are built as public trees.

    Attributes:
        rules: function that returns the rules of a game with the given values of its parameters.
    """

    rules: Callable[[Mapping[str, int]], Holdem | Bluff]


def _holdem(values: Mapping[str, int]) -> Holdem:
    """Return the rules of ``holdem(...)``.

    Raises:
        GameError: the deck has fewer cards than are dealt, or there are too many board cards.
    """
    rounds = values["rounds"]
    raises = values["raises"]
    deck = Deck(values["ranks"], values["suits"], values["private"])
    board = (0, values["flop"], 1, 1)[:rounds]
    if sum(board) > MOST_BOARD_CARDS:
        raise GameError(
            f"holdem deals at most {MOST_BOARD_CARDS} board cards, not {sum(board)}: use fewer rounds or a smaller flop"
        )
    dealt = 2 * deck.private + sum(board)
    if deck.size < dealt:
        raise GameError(f"holdem deals {dealt} cards: ranks times suits must be at least that many")
    return Holdem(
        deck=deck,
        board=board,
        blinds=(1, 2),
        # The parameters give bets in big blinds, each of two chips.
        bets=(2 * values["bet"], *(2 * values["later"],) * 3)[:rounds],
        raises=(values["opening"] or max(1, raises - 1), *(raises,) * 3)[:rounds],
        # Player 0 has the small blind: it acts first before the flop, and last afterwards.
        first=(0, 1, 1, 1)[:rounds],
    )


def _flop_holdem(values: Mapping[str, int]) -> Holdem:
    """Return the rules of flop hold'em as in Brown, Lerer, Gross and Sandholm, Deep CFR, ICML 2019."""
    return Holdem(
        deck=Deck(ranks=13, suits=4, private=2),
        board=(0, 3),
        blinds=(50, 100),
        bets=(100, 100),
        raises=(3, 3),
        first=(0, 1),
    )


def _texas_holdem(values: Mapping[str, int]) -> Holdem:
    """Return the rules of limit Texas hold'em, whose bets on the turn and on the river are twice as large."""
    return Holdem(
        deck=Deck(ranks=13, suits=4, private=2),
        board=(0, 3, 1, 1),
        blinds=(1, 2),
        bets=(2, 2, 4, 4),
        raises=(3, 4, 4, 4),
        first=(0, 1, 1, 1),
    )


def _bluff(values: Mapping[str, int]) -> Bluff:
    """Return the rules of ``bluff(...)``.

    Raises:
        GameError: the player who begins has fewer dice than the other; with at most two dice each, no round of the
            whole game begins like this.
    """
    dice = values["dice"], values["opponent_dice"]
    if dice[0] < dice[1]:
        raise GameError("opponent_dice must not exceed dice: the player who begins never has fewer")
    return Bluff(dice)


IN_BUCKETS = {"buckets": 5}
"""The parameter of hold'em that makes it a game in buckets; see :mod:`rlccfr.games.bucket_histories.rules`."""

PUBLIC = {
    games.name: games
    for games in (
        PublicGames(
            "holdem",
            {
                "rounds": (2, 1, 4),
                "raises": (1, 1, 4),
                "opening": (0, 0, 4),
                "bet": (1, 1, 4),
                "later": (2, 1, 8),
                "ranks": (13, 2, 13),
                "suits": (4, 1, 4),
                "private": (2, 1, 2),
                "flop": (3, 1, 5),
            },
            _holdem,
            of_other_forms=IN_BUCKETS,
        ),
        PublicGames("flop_holdem", {}, _flop_holdem, of_other_forms=IN_BUCKETS),
        PublicGames("texas_holdem", {}, _texas_holdem, of_other_forms=IN_BUCKETS),
        PublicGames("bluff", {"dice": (1, 1, 2), "opponent_dice": (1, 1, 2)}, _bluff),
    )
}
"""Public-tree games.

Parameters of ``holdem``:

- ``rounds``: number of rounds of betting; the turn and the river have one card each.
- ``raises``: largest number of bets and raises in a round; ``opening``: the same before the flop. ``opening=0`` stands
  for one less than ``raises``, because the big blind counts as a bet, but at least 1.
- ``bet`` and ``later``: chips that a bet or raise adds before the flop and after it, in big blinds.
- ``ranks``, from the deuce up, and ``suits`` of the deck; ``private``: cards that each player holds; ``flop``: cards of
  the flop, of which there may be more than three where later rounds have fewer.

Parameters of ``bluff``: the ``dice`` of the player who begins, and the ``opponent_dice``.
"""

LISTED = {
    "holdem": "[2-1] hold'em: one raise per round, 15.4 million infosets, 0.25 GB of tables",
    "holdem(raises=4)": "[2-4] hold'em: four bets per round, 90 million infosets, 1.9 GB of tables",
    "bluff": "Bluff with one die each; the player who begins and its opponent may have two, as in bluff(dice=2)",
    "bluff(dice=2)": "Bluff with two dice and one: 3.5 million infosets, 0.06 GB of tables",
    "bluff(dice=2,opponent_dice=2)": "Bluff with two dice each: 352 million infosets, 5.6 GB of tables",
    "texas_holdem(buckets=5)": "limit Texas hold'em in buckets: 3.6 million infosets, 0.075 GB of tables",
    "flop_holdem": "flop hold'em, on which Deep CFR was measured: 72 million infosets, 1.4 GB of tables",
}
"""Descriptions of games that are shown in lists."""


def is_public(name: Any) -> bool:
    """Return whether a name stands for a game that is built as a public tree.

    Raises:
        GameError: a parameter is given twice, or is not a whole number.
    """
    return isinstance(name, str) and parts_of(name, PUBLIC) is not None


def rules_of(name: str) -> Holdem | Bluff:
    """Return the rules of a public-tree game with this name; names with equal rules stand for the same game.

    Raises:
        GameError: a parameter is unknown, or a value is out of range.
    """
    parts = parsed(name)
    assert parts is not None
    short_name, arguments = parts
    games = PUBLIC[short_name]
    return games.rules(games.values(arguments))


def public_game(name: str, progress: Callable[[float], None] | None = None) -> PublicGame:
    """Build a public-tree game, such as ``holdem(rounds=2,raises=4)``.

    Args:
        name: the game's name.
        progress: not called, since building takes at most a few seconds.

    Raises:
        GameError: a parameter is unknown, a value is out of range, or the game does not fit into memory.
    """
    rules = rules_of(name)
    # A bound is enough to refuse a game, and a game that is too large can't be built to be measured.
    least_bytes = BYTES * rules.least_entries()
    available = available_memory()
    if available is not None and least_bytes > available:
        remedy = "use fewer dice"
        if isinstance(rules, Holdem):
            # Without parameters, as in ``holdem()``, no comma may come before the new one.
            in_buckets = f"{name[:-1]},buckets=5)".replace("(,", "(") if name.endswith(")") else f"{name}(buckets=5)"
            remedy = (
                f"use fewer rounds, raises or ranks; put hands in buckets by loading {in_buckets!r}, which merges the "
                f"same hands as the abstraction equity(buckets=5); or load 'generated({name})', which builds nothing, "
                "for deep rules"
            )
        raise GameError(
            f"{name!r} needs at least {gigabytes(least_bytes)} of memory, but only {gigabytes(available)} are "
            f"available: {remedy}"
        )
    return rules.build(name)
