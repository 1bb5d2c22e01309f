"""What a page shows at each point of hold'em in buckets: both players' bucket histories on a path of actions.

Where a round ends, a point stands for the cards that are dealt next. Only one move leads on from it, since the abstract
game does not distinguish boards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from rlccfr.explorer.points import ENDS, Content, PlayerState, Point
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.public.cards import PLACES, action_in_words
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.kernels.bucket_histories.passes import MEAN
from rlccfr.policies.bucket_history_figures import OfNodes, reach_by_round, values_by_round
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy


def bucket_history_page(policy: BucketHistoryPolicy, start: str, most: int) -> Content:
    """Return what a page shows of a policy of hold'em in buckets: its points, breadth first.

    A state is what a player knows at a point. As on pages of public trees, all points together have at most ``most``
    states, but the first point always has its states. Points beyond this limit have none.

    Args:
        policy: the policy.
        start: path of the first point, such as ``cc/r``; the empty string for the game's first decision.
        most: largest number of states.

    Raises:
        GameError: nobody acts after that path.
    """
    places = {action_in_words(move, can_fold=True): place for move, place in PLACES.items() if move in "fcr"}
    return Content(_BucketHistoryPoints(policy, policy.game.node(start), most), places | {"check": PLACES["c"]})


def num_states_below(game: BucketHistoryGame, start: str) -> int:
    """Return the number of players' states at a point and at all points below it.

    Args:
        game: the game.
        start: path of the point.

    Raises:
        GameError: nobody acts after that path.
    """
    number, node, line = game.node(start)
    level = [_Place(number, node, line)]
    num_states = 0
    while level:
        num_states += sum(2 * game.num_bucket_histories[place.round] for place in level if _actor(game, place) < CHANCE)
        level = [child for place in level for child in _children(game, place)]
    return num_states


class _Place(NamedTuple):
    """A node of a round's tree of actions, on one betting line."""

    round: int
    node: int
    line: int


class _PendingPoint(NamedTuple):
    """A point that is still to be yielded; see :class:`rlccfr.explorer.points.Point`.

    Attributes:
        place: where it is.
        value: player 0's expected payoff there; NaN if it is unknown.
    """

    place: _Place
    parent: int
    move: str
    share: float
    value: float


class _Figures(NamedTuple):
    """Figures of a policy at a decision.

    Attributes:
        mass: for each player, (histories,) probability that play leads there with each bucket history.
        probabilities: (histories, actions) policy of the player who acts.
        action_values: (histories, actions) that player's expected payoff after each action; NaN where the opponent's
            moves never lead there.
    """

    mass: tuple[np.ndarray, np.ndarray]
    probabilities: np.ndarray
    action_values: np.ndarray


class _BucketHistoryPoints:
    """The points of a path and of all paths that continue it, as an iterable."""

    def __init__(self, policy: BucketHistoryPolicy, start: tuple[int, int, int], most: int) -> None:
        self.policy = policy
        self.game = policy.game
        self.start = _Place(*start)
        self.most = most
        self._reach = [_Rounds(reach_by_round(policy, player)) for player in (0, 1)]
        self._decisions = {(d.round, d.node): d for d in policy.game.decisions}
        self._labels: dict[int, list[str]] = {}

    @cached_property
    def _values(self) -> list[_Rounds]:
        return [_Rounds(values_by_round(self.policy, player, MEAN)) for player in (0, 1)]

    def __iter__(self) -> Iterator[Point]:
        path = self.game.path(*self.start)
        queue = deque([_PendingPoint(self.start, parent=-1, move=path, share=1.0, value=float("nan"))])
        number = 0
        states_left = self.most
        is_full = False
        while queue:
            pending = queue.popleft()
            if _actor(self.game, pending.place) >= CHANCE:
                children = _children(self.game, pending.place)
                actor = CHANCE if children else ENDS
                yield Point(pending.parent, pending.move, actor, pending.share, pending.value, (), ())
                if not is_full:
                    for child in children:  # one at most
                        move = f"the cards of round {child.round + 1}"
                        queue.append(_PendingPoint(child, number, move, share=1.0, value=pending.value))
            else:
                figures = self._figures(pending.place)
                num_states = 2 * self.game.num_bucket_histories[pending.place.round]
                is_full = is_full or (num_states > states_left and number > 0)
                states_left -= num_states
                yield self._point(pending, figures, with_states=not is_full)
                if not is_full:
                    queue.extend(self._pending_children(pending, number, figures))
            number += 1

    def _figures(self, place: _Place) -> _Figures:
        """Return the figures at a decision."""
        actor = _actor(self.game, place)
        met = self.game.matrices(self.policy.table.dtype).met[place.round]
        reach = [of_player[place.round][place.node][:, place.line] for of_player in self._reach]
        # Both players are dealt hands alike, so the probabilities of pairs are symmetric. The product is in the type of
        # the table, since the matrix may take gigabytes in double precision.
        compatible = [(met @ reach[1 - player]).astype(float) for player in (0, 1)]
        values = self._values[actor][place.round]
        children = self.game.rounds[place.round].children(place.node)
        counterfactual_values = np.stack([values[child][:, place.line] for child in children], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            # Without the weight of the opponent's reach, a counterfactual value is an expected payoff.
            action_values = counterfactual_values / compatible[actor][:, None]
        return _Figures(
            mass=(reach[0] * compatible[0], reach[1] * compatible[1]),
            probabilities=self._probabilities(place),
            action_values=action_values,
        )

    def _probabilities(self, place: _Place) -> np.ndarray:
        """Return the policy at a decision, (histories, actions)."""
        decision = self._decisions[place.round, place.node]
        return self.policy.shares(decision, lines=[place.line])[:, :, 0]

    def _pending_children(self, pending: _PendingPoint, number: int, figures: _Figures) -> Iterator[_PendingPoint]:
        """Yield the points after each action at a point, whose number on the page is ``number``."""
        actor = _actor(self.game, pending.place)
        mass = figures.mass[actor]
        for action, child in enumerate(_children(self.game, pending.place)):
            action_mass = mass * figures.probabilities[:, action]
            share = float(action_mass.sum() / mass.sum()) if mass.sum() > 0 else 0.0
            value = float("nan")
            if share > 0:
                value = float(np.nansum(action_mass * figures.action_values[:, action]) / action_mass.sum())
            move = self._moves(pending.place)[action]
            yield _PendingPoint(child, number, move, share, value if actor == 0 else -value)

    def _point(self, pending: _PendingPoint, figures: _Figures, *, with_states: bool) -> Point:
        """Return what the page shows at a decision, with or without the players' states."""
        actor = _actor(self.game, pending.place)
        total = figures.mass[actor].sum()
        # Play never leads to a point whose total is 0; its shares are then 0 / 0.
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [np.nan_to_num(mass / total) for mass in figures.mass]
        values = (figures.probabilities * figures.action_values).sum(axis=1)
        # A history without a value (NaN) has no share either.
        mean = float(np.nansum(shares[actor] * values)) if total > 0 else float("nan")
        point = Point(
            pending.parent,
            pending.move,
            actor,
            pending.share,
            mean if actor == 0 else -mean,
            states=(),
            opponent_states=(),
        )
        if not with_states:
            return point
        labels = self._labels.setdefault(pending.place.round, self.game.bucketing.labels(pending.place.round))
        moves = self._moves(pending.place)
        gains = figures.action_values - values[:, None]
        states = [
            PlayerState(
                label,
                float(shares[actor][history]),
                float(values[history]),
                tuple(zip(moves, figures.probabilities[history].tolist(), gains[history].tolist(), strict=True)),
            )
            for history, label in enumerate(labels)
        ]
        opponent_states = [
            PlayerState(label, share) for label, share in zip(labels, shares[1 - actor].tolist(), strict=True)
        ]
        return point._replace(states=states, opponent_states=opponent_states)

    def _moves(self, place: _Place) -> list[str]:
        """Return the actions at a decision in words."""
        letters = self.game.letters(place.round, place.node)
        return [action_in_words(letter, can_fold="f" in letters) for letter in letters]


class _Rounds:
    """The arrays of each round, indexed by the round's number and computed when they are first needed."""

    def __init__(self, rounds: Iterator[OfNodes]) -> None:
        self._left = rounds
        self._done: list[OfNodes] = []

    def __getitem__(self, number: int) -> OfNodes:
        self._done += islice(self._left, max(number + 1 - len(self._done), 0))
        return self._done[number]


def _actor(game: BucketHistoryGame, place: _Place) -> int:
    """Return the player who acts at a place, or CHANCE or FOLD."""
    return int(game.rounds[place.round].nodes["kind"][place.node])


def _children(game: BucketHistoryGame, place: _Place) -> list[_Place]:
    """Return the places after a place: one for each action, or the next round's first decision where a round ends."""
    betting = game.rounds[place.round]
    kind = _actor(game, place)
    if kind < CHANCE:
        return [_Place(place.round, child, place.line) for child in betting.children(place.node)]
    if kind == FOLD or place.round + 1 == len(game.rounds):
        return []
    end = int(betting.nodes["leaf"][place.node])
    return [_Place(place.round + 1, 0, end * betting.num_lines + place.line)]
