"""Games of Gambit's files, as OpenSpiel plays them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from rlccfr.errors import GameError
from rlccfr.game import OpponentPayoffs
from rlccfr.games.claims import OF_SIZE, sum_tolerance
from rlccfr.games.gambit import reader
from rlccfr.games.gambit.files import NAME, digest_of, path_shown, read
from rlccfr.games.gambit.reader import Extensive, parse
from rlccfr.games.generated.spiel import CHANCE, TERMINAL, Rules, Text, register
from rlccfr.games.playable import State

BITS = 1_200
"""Number of bits after the binary point with which probabilities are represented before they are scaled.

The smallest double needs 1,074 bits; the other 126 keep the precision of the smallest probabilities.
"""


class Gambit(Rules):
    """The game that a file describes, played as the zero-sum game of the first player's payoffs.

    Args:
        file: absolute path of the file, percent-encoded, because some characters have a meaning in OpenSpiel's strings.
        digest: digest of the content.

    Raises:
        GameError: the file can't be read or has changed, its text is not a game of two players, or the game has no
            zero-sum form.
    """

    def __init__(self, file: str, digest: str) -> None:
        path = Path(unquote(file))
        name = path_shown(path)
        text = read(path)
        if digest_of(text) != digest:
            raise GameError(f"{name} has changed since the game was loaded; load it again")
        self.game = parse(text, name)
        self.opponent_payoffs = _opponent_payoffs(self.game, name)
        nodes = self.game.nodes
        depth = [0] * len(nodes)
        for number, node in enumerate(nodes):
            for child in node.children:
                depth[child] = depth[number] + 1
        self.longest_path = max(depth)
        self.most_actions = max((len(node.children) for node in nodes if node.actor >= 0), default=1)
        self.most_outcomes = max((len(node.children) for node in nodes if node.actor == reader.CHANCE), default=1)
        self.largest_payoff = max(abs(float(node.payoffs[0])) for node in nodes)
        self._event_outcomes: dict[int, list[tuple[int, float]]] = {}  # by number of each chance event met so far

    def new_initial_state(self) -> State:
        return NodeState(self, 0)

    def actor(self, past: tuple[int, ...]) -> Any:
        return _spiel_actor(self._node(past))

    def actions(self, past: tuple[int, ...]) -> list[int]:
        return list(range(len(self._node(past).children)))

    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        return self.outcomes_at(self._node(past))

    def outcomes_at(self, node: reader.Node) -> list[tuple[int, float]]:
        """Return the outcomes of a chance node with their probabilities, scaled to sum to 1 if the file rounds them."""
        if node.set not in self._event_outcomes:
            # Whole numbers: the exact sum of many fractions may have a denominator of a million digits.
            shares = [(chance.numerator << BITS) // chance.denominator for chance in node.described.numbers]
            total = sum(shares)
            self._event_outcomes[node.set] = [(outcome, share / total) for outcome, share in enumerate(shares)]
        return self._event_outcomes[node.set]

    def utility(self, past: tuple[int, ...]) -> float:
        return float(self._node(past).payoffs[0])

    def seen(self, past: tuple[int, ...], player: int) -> str:
        """Return the player's infoset or, if the player is not to move, the player's last infoset and action."""
        node = self._node(past)
        if node.actor == player:
            return _infoset_name(node)
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


class NodeState(NamedTuple):
    """A node of a file's tree, with the methods of a state, so that the traversal need not search for each node."""

    rules: Gambit
    number: int

    @property
    def node(self) -> reader.Node:
        return self.rules.game.nodes[self.number]

    def current_player(self) -> Any:
        return _spiel_actor(self.node)

    def information_state_string(self, player: int) -> str:
        return _infoset_name(self.node)

    def legal_actions(self) -> list[int]:
        return list(range(len(self.node.children)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.rules.outcomes_at(self.node)

    def returns(self) -> tuple[float, float]:
        utility = float(self.node.payoffs[0])
        return utility, -utility

    def child(self, action: int) -> NodeState:
        return NodeState(self.rules, self.node.children[action])


def _spiel_actor(node: reader.Node) -> Any:
    """Return the actor of a node as OpenSpiel's player id."""
    return {reader.CHANCE: CHANCE, reader.TERMINAL: TERMINAL}.get(node.actor, node.actor)


def _infoset_name(node: reader.Node) -> str:
    """Return the name of the infoset of the player to move at a node."""
    label = node.described.label
    return f"player {node.actor}, infoset {node.set}" + (f": {label}" if label else "")


def _opponent_payoffs(game: Extensive, name: str) -> OpponentPayoffs:
    """Return the second player's payoffs, which must be a decreasing linear function of the first player's.

    Raises:
        GameError: they are not, or the function has a slope or a constant beyond the range of doubles.
    """
    ends = [node.payoffs for node in game.nodes if node.actor == reader.TERMINAL]
    worst = min(ends)  # for the first player
    best = max(ends)
    spread = best[0] - worst[0]
    slope = (worst[1] - best[1]) / spread if spread else Fraction(1)
    if abs(slope - 1) <= OF_SIZE:  # the file rounds the payoffs of a constant-sum game
        slope = Fraction(1)
    if slope <= 0:
        raise _not_zero_sum(name, [worst, best])
    allowed = dict(zip(ends, _tolerances(ends, slope), strict=True))
    for first, second in ends:
        expected = worst[1] - slope * (first - worst[0])
        # The line is drawn between two terminal nodes, whose rounding errors count in proportion to their nearness.
        share = (best[0] - first) / spread if spread else Fraction(1)
        line_tolerance = share * allowed[worst] + (1 - share) * allowed[best]
        if abs(expected - second) > allowed[first, second] + line_tolerance:
            raise _not_zero_sum(name, [worst, best, (first, second)])
    try:
        payoffs = OpponentPayoffs(float(worst[1] + slope * worst[0]), float(slope))
    except OverflowError:
        payoffs = OpponentPayoffs(slope=0.0)
    if not payoffs.slope:
        raise GameError(
            f"{name} is zero-sum only if one player's payoffs are scaled by a factor beyond the range of doubles; "
            "rescale them in the file"
        )
    return payoffs


def _tolerances(ends: list[tuple[Fraction, Fraction]], slope: Fraction) -> list[Fraction]:
    """Return how far the second player's payoff at each terminal may be off because the file rounds numbers."""
    sizes = [abs(second) + slope * abs(first) for first, second in ends]
    largest = max(sizes)
    if not largest:
        return sizes
    shares = np.array([float(size / largest) for size in sizes])  # the sizes themselves may be too large for doubles
    return [largest * Fraction(share) for share in sum_tolerance(shares).tolist()]


def _not_zero_sum(name: str, ends: list[tuple[Fraction, Fraction]]) -> GameError:
    """Return the error for a game whose payoffs at some terminal nodes do not lie on a decreasing line."""
    pairs = [f"({float(first):.12g}, {float(second):.12g})" for first, second in dict.fromkeys(ends)]
    return GameError(
        f"{name} is not zero-sum, even after a change of scale: the players' payoffs are "
        f"{', '.join(pairs[:-1])} and {pairs[-1]} at some terminal nodes; only zero-sum games are solved"
    )


register(NAME, "A game in a file of Gambit's", {"file": Text(""), "digest": Text("")}, Gambit)
