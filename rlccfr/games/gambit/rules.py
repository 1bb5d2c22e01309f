"""Games of Gambit's files, as OpenSpiel plays them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rlccfr.errors import GameError
from rlccfr.games.gambit import reader
from rlccfr.games.gambit.files import NAME, digest_of, read
from rlccfr.games.gambit.reader import Extensive, parse
from rlccfr.games.generated.spiel import CHANCE, TERMINAL, Rules, Text, register

ROUNDING = 1e-9
"""Largest distance from a zero-sum game, as a share of the payoffs' range; files may round their decimals."""


class Gambit(Rules):
    """The game that a file describes, zero-sum in the payoffs of its first player.

    Args:
        file: absolute name of the file, percent-encoded, because OpenSpiel's strings give some characters a meaning.
        digest: digest of the content.

    Raises:
        GameError: the file can't be read or has changed, its text is not a game of two players, or the game has no
            zero-sum form.
    """

    def __init__(self, file: str, digest: str) -> None:
        name = unquote(file)
        text = read(Path(name))
        if digest_of(text) != digest:
            raise GameError(f"{name} has changed since the game was loaded; load it again")
        self.game = parse(text, name)
        _check_zero_sum(self.game, name)
        nodes = self.game.nodes
        depth = [0] * len(nodes)
        for number, node in enumerate(nodes):
            for child in node.children:
                depth[child] = depth[number] + 1
        self.longest = max(depth)
        self.most_actions = max((len(one.children) for one in nodes if one.actor >= 0), default=1)
        self.most_outcomes = max((len(one.children) for one in nodes if one.actor == reader.CHANCE), default=1)
        self.most = max(abs(float(one.payoffs[0])) for one in nodes)

    def actor(self, past: tuple[int, ...]) -> Any:
        actor = self._node(past).actor
        return {reader.CHANCE: CHANCE, reader.TERMINAL: TERMINAL}.get(actor, actor)

    def actions(self, past: tuple[int, ...]) -> list[int]:
        return list(range(len(self._node(past).children)))

    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        numbers = self._node(past).described.numbers
        return [(outcome, float(one / sum(numbers))) for outcome, one in enumerate(numbers)]

    def utility(self, past: tuple[int, ...]) -> float:
        return float(self._node(past).payoffs[0])

    def seen(self, past: tuple[int, ...], player: int) -> str:
        """Return the player's infoset. Where the other one moves, it is the last infoset and what was done there."""
        node = self._node(past)
        if node.actor == player:
            label = node.described.label
            return f"player {player}, infoset {node.set}" + (f": {label}" if label else "")
        for last in range(len(past) - 1, -1, -1):
            if self._node(past[:last]).actor == player:
                return f"{self.seen(past[:last], player)}, then {self.name(past[:last], past[last])}"
        return f"player {player} has not moved"

    def name(self, past: tuple[int, ...], action: int) -> str:
        return self._node(past).described.actions[action]

    def _node(self, past: tuple[int, ...]) -> reader.Node:
        number = 0
        for action in past:
            number = self.game.nodes[number].children[action]
        return self.game.nodes[number]


def _check_zero_sum(game: Extensive, name: str) -> None:
    """Check that the second player's payoffs are a falling linear function of the first player's.

    Then both order all strategies as in the zero-sum game of the first player's payoffs, so the equilibria are equal.

    Raises:
        GameError: they are not.
    """
    ends = [node.payoffs for node in game.nodes if node.actor == reader.TERMINAL]
    (least, at_least), (most, at_most) = min(ends), max(ends)
    slope = (at_least - at_most) / (most - least) if most > least else Fraction(1)
    second = [one for _, one in ends]
    close = ROUNDING * (max(second) - min(second))
    wrong = next((one for one in ends if abs(at_least - slope * (one[0] - least) - one[1]) > close), None)
    if wrong is None and slope > 0:
        return
    raise GameError(
        f"{name} is not zero-sum, nor by a change of scale: the players' payoffs are {_told(least, at_least)}, "
        f"{_told(*(wrong or (most, at_most)))} and {_told(most, at_most)} at some ends; only zero-sum games are solved"
    )


def _told(first: Fraction, second: Fraction) -> str:
    return f"({float(first):g}, {float(second):g})"


register(NAME, "A game in a file of Gambit's", {"file": Text(""), "digest": Text("")}, Gambit)
