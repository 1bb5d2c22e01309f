"""Cards, dice and states as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
KUHN = "JQK"
LEDUC = ("J♠", "J♥", "Q♠", "Q♥", "K♠", "K♥")

_FIELD = re.compile(r"\[([^\]:]*):? ?([^\]]*)\]")
_CARDS = re.compile(r"(?:[2-9TJQKA][cdhs])+")


def described(game: str, text: str) -> list[str]:
    """Return what a player knows, line by line: cards are drawn, other fields are listed.

    Args:
        game: OpenSpiel's name of the game, or the name of one with a public tree.
        text: what the player knows: an information state string, or what a table with a public tree says.
    """
    kind = game.partition("(")[0]
    if kind == "kuhn_poker" and re.fullmatch(r"[0-2][pb]*", text):
        moves = " ".join({"p": "pass", "b": "bet"}[move] for move in text[1:])
        return [*drawn([KUHN[int(text[0])]]), f"moves: {moves or 'none yet'}"]
    if kind == "leduc_poker" and "[Private: " in text:
        return _leduc(dict(_FIELD.findall(text)), KUHN if "suit_isomorphism=True" in game else LEDUC)
    fields = _FIELD.findall(text)
    if kind == "universal_poker" and fields:
        return _poker(dict(fields))
    if found := re.match(r"Cards: (\w+)(?:  Board: (\w+))?  (.*)", text):
        return [*_hands(found[1], found[2] or ""), found[3]]
    return [f"{name}: {value}" for name, value in fields if value] or text.splitlines() or [""]


def drawn(cards: list[str]) -> list[str]:
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


def _hands(private: str, board: str) -> list[str]:
    own, shared = _named(private), _named(board)
    lines = drawn(own)
    if shared:
        lines = [f"{left}   {right}" for left, right in zip(lines, drawn(shared), strict=True)]
    return [*lines, "cards" + (f"{'board':>{7 * len(own) + 2}}" if shared else "")]


def _named(cards: str) -> list[str]:
    return [card[0] + SUITS[card[1]] for card in re.findall("..", cards)] if _CARDS.fullmatch(cards) else []


def _leduc(fields: dict[str, str], names: Sequence[str]) -> list[str]:
    own, board = names[int(fields["Private"])], fields.get("Public", "")
    lines = drawn([own, names[int(board)]] if board else [own])
    moves = {"1": "call", "2": "raise", "0": "fold"}
    rounds = [" ".join(moves.get(move, move) for move in fields.get(name, "").split()) for name in ("Round1", "Round2")]
    return [*lines, "card" + ("   public" if board else ""), f"pot: {fields.get('Pot', '?')}",
            f"moves: {' | '.join(filter(None, rounds)) or 'none yet'}"]  # fmt: skip


def _poker(fields: dict[str, str]) -> list[str]:
    moves = {"c": "call", "r": "raise", "f": "fold", "|": "|"}
    told = " ".join(moves.get(move, move) for move in fields.get("Sequences", ""))
    lines = _hands(fields.get("Private", ""), fields.get("Public", ""))
    return [*lines, f"pot: {fields.get('Pot', '?')}", f"moves: {told or 'none yet'}"]
