"""Cards, dice and states as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rlccfr.games.public.cards import ACTIONS

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
KUHN = "JQK"
LEDUC = ("J♠", "J♥", "Q♠", "Q♥", "K♠", "K♥")
LEDUC_MOVES = str.maketrans("012", "fcr", " ")

_FIELD = re.compile(r"\[([^\]:]*):? ?([^\]]*)\]")
_CARDS = re.compile(r"(?:[2-9TJQKA][cdhs])+")


class Seen(NamedTuple):
    """What a player knows in a game of cards.

    Attributes:
        own: the player's cards.
        board: the cards that both players see.
        facts: what else there is to say, such as the moves so far.
    """

    own: Sequence[str]
    board: Sequence[str]
    facts: Sequence[str]


def described(game: str, text: str) -> list[str]:
    """Return what a player knows, line by line: cards are drawn, other fields are listed.

    Args:
        game: OpenSpiel's name of the game, or the name of one with a public tree.
        text: what the player knows: an information state string, or what a table with a public tree says.
    """
    if seen := seen_in(game, text):
        return [*_hands(seen.own, seen.board), *seen.facts]
    fields = _FIELD.findall(text)
    return [f"{name}: {value}" for name, value in fields if value] or text.splitlines() or [""]


def in_words(game: str, text: str) -> str:
    """Return what a player knows in one line, such as ``K♥, board Q♠, moves: call call | raise``.

    Args:
        game, text: see :func:`described`; the text of a game without cards comes back as it is.
    """
    if not (seen := seen_in(game, text)):
        return text
    board = [f"board {' '.join(seen.board)}"] if seen.board else []
    return ", ".join(filter(None, [" ".join(seen.own), *board, *seen.facts]))


def move_in_words(game: str, name: str) -> str:
    """Return a move's name without numbers of players, and a card's name for a number that chance deals.

    Args:
        game: OpenSpiel's name of the game.
        name: OpenSpiel's name of the move.
    """
    kind = game.partition("(")[0]
    if kind in ("kuhn_poker", "leduc_poker") and (found := re.fullmatch(r"(?:Chance outcome|Deal):(\d)", name)):
        return (KUHN if kind == "kuhn_poker" else _leduc_cards(game))[int(found[1])]
    if kind == "universal_poker" and (found := re.fullmatch(r"player=-?\d move=(?:Deal )?(.*)", name)):
        return " ".join(_named(found[1])) or found[1]
    return name


def seen_in(game: str, text: str) -> Seen | None:
    """Return what a player knows; None in a game without cards.

    Args:
        game, text: see :func:`described`.
    """
    kind = game.partition("(")[0]
    if kind == "kuhn_poker" and re.fullmatch(r"[0-2][pb]*", text):
        return Seen([KUHN[int(text[0])]], [], [_moves(text[1:], {"p": "pass", "b": "bet"})])
    fields = dict(_FIELD.findall(text))
    if kind == "leduc_poker" and "Private" in fields:
        return _leduc(fields, _leduc_cards(game))
    if kind == "universal_poker" and fields:
        moves = _moves(fields.get("Sequences", ""), ACTIONS)
        own, board = _named(fields.get("Private", "")), _named(fields.get("Public", ""))
        return Seen(own, board, [f"pot: {fields.get('Pot', '?')}", moves])
    if found := re.match(r"Cards: (\w+)(?:  Board: (\w+))?  (.*)", text):
        return Seen(_named(found[1]), _named(found[2] or ""), [found[3]])
    return None


def drawn(cards: Sequence[str]) -> list[str]:
    """Return a row of cards, drawn with lines."""
    return [
        " ".join("┌────┐" for _ in cards),
        " ".join(f"│ {card:<2} │" for card in cards),
        " ".join("└────┘" for _ in cards),
    ]


def plain(line: str, encoding: str) -> str:
    """Return a line in signs that an encoding has."""
    try:
        line.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        letters = {suit: letter for letter, suit in SUITS.items()}
        line = "".join(
            letters.get(sign, {"│": "|", "─": "-"}.get(sign, "+" if "┌" <= sign <= "┘" else sign)) for sign in line
        )
        return line.encode("ascii", "replace").decode()
    return line


def _hands(own: Sequence[str], board: Sequence[str]) -> list[str]:
    if not board:
        return drawn(own)
    lines = [f"{left}   {right}" for left, right in zip(drawn(own), drawn(board), strict=True)]
    return [*lines, f"{'cards' if len(own) > 1 else 'card':<{7 * len(own) + 2}}board"]


def _named(cards: str) -> list[str]:
    return [card[0] + SUITS[card[1]] for card in re.findall("..", cards)] if _CARDS.fullmatch(cards) else []


def _leduc_cards(game: str) -> Sequence[str]:
    return KUHN if re.search(r"suit_isomorphism=true\b", game, re.IGNORECASE) else LEDUC


def _leduc(fields: dict[str, str], names: Sequence[str]) -> Seen:
    own, board = names[int(fields["Private"])], fields.get("Public", "")
    letters = "|".join(filter(None, (fields.get(name, "") for name in ("Round1", "Round2"))))
    moves = _moves(letters.translate(LEDUC_MOVES), ACTIONS)
    pot = [] if fields.get("Pot") == "0" else [f"pot: {fields.get('Pot', '?')}"]  # a game that has ended has none
    return Seen([own], [names[int(board)]] if board else [], [*pot, moves])


def _moves(letters: str, words: dict[str, str]) -> str:
    """Return moves in words; the size of a raise, a number of more than one digit, stays."""
    told = " ".join(words.get(move, move) for move in re.findall(r"\d\d+|.", letters))
    return f"moves: {told or 'none yet'}"
