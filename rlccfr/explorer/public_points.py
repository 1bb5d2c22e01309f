"""What a page shows at each point of a game with a public tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rlccfr.engine.public.evaluation import public_action_values
from rlccfr.errors import GameError
from rlccfr.explorer.points import ENDS, Content, Held, Point, content
from rlccfr.games.public.cards import ACTIONS, RANKS
from rlccfr.games.public.records import CARDS, CHANCE
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.policy import Policy

MOST_STATES = 200_000
"""Default limit on the states of a page, of some ten megabytes."""


def any_content(policy: Policy, start: str = "", most: int = MOST_STATES) -> Content:
    """Return what a page shows of a policy of any game.

    Args:
        start, most: for a game with a public tree; see :func:`public_points`.

    Raises:
        GameError: no node has the path, or a compiled game was asked for one.
    """
    if not isinstance(policy, PublicPolicy):
        if start:
            raise GameError(f"{policy.game.name!r} has no paths to begin from: the page has all of it")
        return content(policy)
    deals = policy.game.deals
    found = public_points(policy, start, most)
    if not deals:
        moves = dict.fromkeys([*policy.game.letters(0), *policy.game.letters(1)])  # all bids, and the call of one
        return Content(found, {move: place for place, move in enumerate(moves)})
    ranks = RANKS[: deals[0].deck.ranks][::-1] if deals[0].deck.private == 2 else ""
    return Content(found, {name: place for place, name in enumerate(ACTIONS.values())}, ranks)


def public_points(policy: PublicPolicy, start: str = "", most: int = MOST_STATES) -> Iterator[Point]:
    """Yield the points of a public tree from one on, those nearer to it first.

    Once ``most`` states were yielded, what lies below is left out: a page could not hold it.

    Args:
        start: path of the first point, such as ``rc/KhQd2c/``; by default the game's first decision.
        most: number of states.

    Raises:
        GameError: no node has that path.
        PolicyError: the private states have no names.
    """
    policy.game.require_names()
    return iter(_Points(policy, policy.game.node(start), most))


class _Reach(NamedTuple):
    """How likely play has led to a node.

    Attributes:
        own: for each player, (rows,): probability that the player's moves lead there, by private state.
        factor: probability of one pair of private states and one board, times the number of such boards.
    """

    own: tuple[np.ndarray, np.ndarray]
    factor: float


class _Figures(NamedTuple):
    """Figures of a policy at a node.

    Attributes:
        likely: for each player, (rows,): probability of the row and the node, over the reach's factor.
        mass: their sum.
        probabilities: (actions, rows) the policy of the player who acts; empty if nobody does.
        worth: (actions, rows) the player's expected payoff after each action; NaN where the opponent never leads.
    """

    likely: list[np.ndarray]
    mass: float
    probabilities: np.ndarray
    worth: np.ndarray


class _Pending(NamedTuple):
    """A point that is still to be yielded: its node, the point above, and what was found on the way."""

    node: int
    above: int
    reach: _Reach
    share: float
    value: float


class _Points:
    """The points from a node on."""

    def __init__(self, policy: PublicPolicy, start: int, most: int) -> None:
        self.policy, self.game, self.start, self.most = policy, policy.game, start, most
        self.values = public_action_values(policy.game, policy.table)
        self.nodes = policy.game.view.nodes

    def __iter__(self) -> Iterator[Point]:
        pending = deque([_Pending(self.start, -1, self._reach_of(self.start), 1.0, float("nan"))])
        number, left = 0, self.most
        while pending:
            here = pending.popleft()
            figures = self._figures(here.node, here.reach)
            point = self._point(here, figures)
            yield point
            left -= len(point.states) + len(point.others)
            if left > 0:
                pending.extend(self._following(here, number, figures))
            number += 1

    def _figures(self, node: int, reach: _Reach) -> _Figures:
        kind = int(self.nodes["kind"][node])
        met = [self._met(node, 1 - player, reach.own[1 - player]) for player in (0, 1)]
        likely = [size * own * other for size, own, other in zip(self._sizes(node), reach.own, met, strict=True)]
        mass = float(likely[0].sum())
        if kind >= CHANCE:
            return _Figures(likely, mass, np.zeros((0, 0)), np.zeros((0, 0)))
        probabilities, first = self.policy.at(node), int(self.nodes["table"][node])
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = self.values[first : first + probabilities.size].reshape(probabilities.shape) / met[kind]
        return _Figures(likely, mass, probabilities, worth)

    def _following(self, here: _Pending, number: int, figures: _Figures) -> Iterator[_Pending]:
        """Yield the points below one, with the probability of the move to each, and player 0's value after it."""
        kind = int(self.nodes["kind"][here.node])
        for place, child in enumerate(self._children(here.node)):
            reach, value = self._below(here.node, child, here.reach), float("nan")
            if kind < CHANCE:
                taken = figures.likely[kind] * figures.probabilities[place]
                share = float(taken.sum() / figures.mass) if figures.mass > 0 else 0.0
                if share > 0:
                    value = float(np.nansum(taken * figures.worth[place]) / taken.sum()) * (1 if kind == 0 else -1)
            else:
                before, after = figures.mass * here.reach.factor, self._figures(child, reach).mass * reach.factor
                share = after / before if before > 0 else 0.0
            yield _Pending(child, number, reach, share, value)

    def _point(self, here: _Pending, figures: _Figures) -> Point:
        node, kind = here.node, int(self.nodes["kind"][here.node])
        move = self._move(node) if here.above >= 0 else self.game.path(node)
        if kind >= CHANCE:
            return Point(here.above, move, CHANCE if kind == CHANCE else ENDS, here.share, here.value, (), ())
        with np.errstate(invalid="ignore"):
            shares = [own / figures.mass for own in figures.likely]
        value = (figures.probabilities * figures.worth).sum(axis=0)
        mean = float(np.nansum(shares[kind] * value)) if figures.mass > 0 else float("nan")
        names = self._names(node, 1 - kind)
        return Point(
            here.above,
            move,
            kind,
            here.share,
            mean if kind == 0 else -mean,
            self._held(node, kind, shares[kind], value, figures),
            [Held(name, float(share)) for name, share in zip(names, np.nan_to_num(shares[1 - kind]), strict=True)],
        )

    def _held(self, node: int, player: int, shares: np.ndarray, value: np.ndarray, figures: _Figures) -> list[Held]:
        """Return the states of the player who acts, from each row's share and value."""
        moves, gains = [self._move(child) for child in self._children(node)], figures.worth - value
        found = []
        for row, (name, share) in enumerate(zip(self._names(node, player), np.nan_to_num(shares), strict=True)):
            actions = zip(moves, figures.probabilities[:, row].tolist(), gains[:, row].tolist(), strict=True)
            found.append(Held(name, float(share), float(value[row]), tuple(actions)))
        return found

    def _names(self, node: int, player: int) -> list[str]:
        if self.game.private_names:
            return list(self.game.private_names[player])
        return self.game.row_names(node)

    def _move(self, node: int) -> str:
        above = int(self.game.parents[node])
        if self.nodes["kind"][above] == CHANCE:
            return self.game.deals[int(self.nodes["deal"][node])].board_name
        letter: str = self.game.moves[node].decode().strip()
        return ACTIONS.get(letter, letter) if self.game.deals else letter

    def _children(self, node: int) -> range:
        first = int(self.nodes["first_child"][node])
        return range(first, first + int(self.nodes["num_children"][node]))

    def _reach_of(self, node: int) -> _Reach:
        path = [node]
        while (above := int(self.game.parents[path[-1]])) >= 0:
            path.append(above)
        rows = self.game.view.deals["rows"][0]
        reach = _Reach((np.ones(rows[0]), np.ones(rows[1])), self.game.unit)
        for above, below in zip(path[:0:-1], path[-2::-1], strict=True):
            reach = self._below(above, below, reach)
        return reach

    def _below(self, node: int, child: int, reach: _Reach) -> _Reach:
        """Return the reach of a child."""
        kind, own = int(self.nodes["kind"][node]), list(reach.own)
        if kind < CHANCE:
            own[kind] = own[kind] * self.policy.at(node)[child - int(self.nodes["first_child"][node])]
            return _Reach((own[0], own[1]), reach.factor)
        view, at = self.game.view, int(self.nodes["deal"][child])
        before, deal = self.game.deals[int(self.nodes["deal"][node])], self.game.deals[at]
        for player in (0, 1):
            edge, rows = int(view.deals["edge"][at, player]), int(view.deals["rows"][at, player])
            own[player] = own[player][view.above[edge : edge + rows]]
        return _Reach((own[0], own[1]), reach.factor * deal.orbit * deal.share / before.share)

    def _sizes(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return for each player the number of private states in each row."""
        if not self.game.deals:
            return self.game.mass
        sizes = self.game.deals[int(self.nodes["deal"][node])].sizes.astype(float)
        return sizes, sizes

    def _met(self, node: int, player: int, own: np.ndarray) -> np.ndarray:
        """Return the sum of a player's reach over the private states that one of the opponent's allows, by rows."""
        if not self.game.deals:
            return np.full(len(self.game.mass[1 - player]), float(self.game.mass[player] @ own))
        view, at = self.game.view, int(self.nodes["deal"][node])
        deal, rows = view.deals[at], len(own)
        reach = np.repeat(own, self.game.deals[at].sizes)
        hands = view.hands[int(deal["hand"]) : int(deal["hand"]) + len(reach)]
        firsts = view.firsts[int(deal["row"]) : int(deal["row"]) + rows].astype(np.int64)
        of_card = np.bincount(hands[:, 0], reach, CARDS) + np.bincount(hands[:, 1], reach, CARDS)
        found: np.ndarray = reach.sum() - of_card[firsts].sum(axis=1) + own
        return found
