"""Cards, dice and states as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rlccfr.games.public.cards import ACTIONS

if TYPE_CHECKING:
    from rlccfr.game import Game

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
PLAIN_SIGNS = {"│": "|", "─": "-"} | {suit: letter for letter, suit in SUITS.items()}
KUHN = "JQK"
LEDUC = ("J♠", "J♥", "Q♠", "Q♥", "K♠", "K♥")
LEDUC_MOVES = str.maketrans("012", "fcr", " ")

_FIELD = re.compile(r"\[([^\]:]*):? ?([^\]]*)\]")
_CARDS = re.compile(r"(?:[2-9TJQKA][cdhs])+")


class Knowledge(NamedTuple):
    """What a player knows in a card game.

    Attributes:
        hand: the player's cards.
        board: the cards that both players see.
        facts: what else the player knows, such as the moves so far, one line each.
    """

    hand: Sequence[str]
    board: Sequence[str]
    facts: Sequence[str]


def payoff_unit(game: Game) -> str:
    """Return the unit of a game's payoffs as a word to display: chips in poker, otherwise points."""
    name = getattr(game, "openspiel_name", game.name)
    is_poker = "poker" in name or game.big_blind is not None or game.pot is not None
    return "chips" if is_poker else "points"


def described(game: str, text: str) -> list[str]:
    """Return what a player knows as lines of text: a picture of the cards, then the other facts.

    Args:
        game: OpenSpiel's name of the game, or the name of a public-tree game.
        text: what the player knows: an information state string, or for a public-tree game what
            :meth:`rlccfr.play.public_table.PublicTable.known` returns.
    """
    if knowledge := knowledge_in(game, text):
        return [*_drawn_hand_and_board(knowledge.hand, knowledge.board), *knowledge.facts]
    fields = _FIELD.findall(text)
    return [f"{name}: {value}" for name, value in fields if value] or text.splitlines() or [""]


def in_words(game: str, text: str) -> str:
    """Return in one line what a player knows, such as ``K♥, board Q♠, moves: call call | raise``.

    Args:
        game, text: see :func:`described`; the text of a game without cards is returned unchanged.
    """
    knowledge = knowledge_in(game, text)
    if not knowledge:
        return text
    board = f"board {' '.join(knowledge.board)}" if knowledge.board else ""
    return ", ".join(filter(None, [" ".join(knowledge.hand), board, *knowledge.facts]))


def move_in_words(game: str, name: str) -> str:
    """Return a move's name without the player's number; for a number that chance deals, return the card's name.

    Args:
        game: OpenSpiel's name of the game.
        name: OpenSpiel's name of the move.
    """
    kind = game.partition("(")[0]
    if kind in ("kuhn_poker", "leduc_poker") and (match := re.fullmatch(r"(?:Chance outcome|Deal):(\d)", name)):
        cards = KUHN if kind == "kuhn_poker" else _leduc_cards(game)
        return cards[int(match[1])]
    if kind == "universal_poker" and (match := re.fullmatch(r"player=-?\d move=(?:Deal )?(.*)", name)):
        return " ".join(_card_names(match[1])) or match[1]
    return name


def knowledge_in(game: str, text: str) -> Knowledge | None:
    """Return what a player knows; None in a game without cards.

    Args:
        game, text: see :func:`described`.
    """
    kind = game.partition("(")[0]
    if kind == "kuhn_poker" and re.fullmatch(r"[0-2][pb]*", text):
        return Knowledge([KUHN[int(text[0])]], [], [_moves(text[1:], {"p": "pass", "b": "bet"})])
    fields = dict(_FIELD.findall(text))
    if kind == "leduc_poker" and "Private" in fields:
        return _leduc(fields, _leduc_cards(game))
    if kind == "universal_poker" and fields:
        hand = _card_names(fields.get("Private", ""))
        board = _card_names(fields.get("Public", ""))
        moves = _moves(fields.get("Sequences", ""), ACTIONS)
        return Knowledge(hand, board, [f"pot: {fields.get('Pot', '?')}", moves])
    if match := re.match(r"Cards: (\w+)(?:  Board: (\w+))?  (.*)", text):  # a game with a public tree
        return Knowledge(_card_names(match[1]), _card_names(match[2] or ""), match[3].split("  "))
    return None


def drawn(cards: Sequence[str]) -> list[str]:
    """Return a row of cards, drawn with lines."""
    return [
        " ".join("┌────┐" for _ in cards),
        " ".join(f"│ {card:<2} │" for card in cards),
        " ".join("└────┘" for _ in cards),
    ]


def plain(line: str, encoding: str) -> str:
    """Return a line as it is if the encoding has all of its characters, and in ASCII otherwise."""
    try:
        line.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return "".join(map(_plain_sign, line)).encode("ascii", "replace").decode()
    return line


def _plain_sign(sign: str) -> str:
    """Return the ASCII character for a suit or a box-drawing character; any other character as it is."""
    if "┌" <= sign <= "┘":  # the corners
        return "+"
    return PLAIN_SIGNS.get(sign, sign)


def _drawn_hand_and_board(hand: Sequence[str], board: Sequence[str]) -> list[str]:
    """Return a picture of a hand as lines; a board, if there is one, is to its right, with labels below both."""
    if not board:
        return drawn(hand)
    lines = [f"{of_hand}   {of_board}" for of_hand, of_board in zip(drawn(hand), drawn(board), strict=True)]
    word = "cards" if len(hand) > 1 else "card"
    width = 7 * len(hand) + 2  # where the board begins
    return [*lines, f"{word:<{width}}board"]


def _card_names(cards: str) -> list[str]:
    """Return the names of cards such as ``KhQd``; an empty list if the string does not name cards."""
    return [card[0] + SUITS[card[1]] for card in re.findall("..", cards)] if _CARDS.fullmatch(cards) else []


def _leduc_cards(game: str) -> Sequence[str]:
    return KUHN if re.search(r"suit_isomorphism=true\b", game, re.IGNORECASE) else LEDUC


def _leduc(fields: dict[str, str], names: Sequence[str]) -> Knowledge:
    """Return what a player knows in Leduc poker, from the fields of an information state string."""
    hand = [names[int(fields["Private"])]]
    board = [names[int(fields["Public"])]] if fields.get("Public") else []
    rounds = [fields.get("Round1", ""), fields.get("Round2", "")]
    letters = "|".join(filter(None, rounds))
    facts = [_moves(letters.translate(LEDUC_MOVES), ACTIONS)]
    if fields.get("Pot") != "0":  # a game that has ended has no pot
        facts.insert(0, f"pot: {fields.get('Pot', '?')}")
    return Knowledge(hand, board, facts)


def _moves(letters: str, words: dict[str, str]) -> str:
    """Return moves in words; a number of more than one digit is the size of a raise, and stays as it is."""
    moves = " ".join(words.get(move, move) for move in re.findall(r"\d\d+|.", letters))
    return f"moves: {moves or 'none yet'}"
