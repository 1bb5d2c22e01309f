"""What a page shows at each point of a game: the moves that lead on, and both players' states there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.explorer.public_states import PublicStates, public_states
from rlccfr.games.openspiel_policies import edge_names, sequence_names
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.play.cards import in_words, move_in_words
from rlccfr.policies.analysis import Analysis, Histories, analysed, followed
from rlccfr.policy import Policy

MOST_NAMES = 3
"""Largest number of moves that share a point and are named there; of more, their number is told."""

ENDS = -1
"""Who moves at a point where the game has ended."""


class Held(NamedTuple):
    """A state of a player at a point.

    Attributes:
        text: what the player knows.
        share: probability of the state, given the point.
        value: the player's expected payoff; NaN where nobody leads.
        actions: for each action its name, its probability, and what it would gain against the policy.
        words: the text for people.
    """

    text: str
    share: float
    value: float = float("nan")
    actions: Sequence[tuple[str, float, float]] = ()
    words: str = ""


class Point(NamedTuple):
    """A point of the game: all that both players have seen.

    Attributes:
        above: number of the point before it; -1 for the first one.
        move: name of the move that leads to it.
        actor: 0 or 1, the player who moves; CHANCE; or ENDS.
        share: probability of the move, given the point above.
        value: player 0's expected payoff.
        states: states of the player who moves. Their shares sum to less than 1 if some histories of the point have
            ended, or the other player moves there.
        others: states of the other player, as they were at that player's last decision, and the move made there.
    """

    above: int
    move: str
    actor: int
    share: float
    value: float
    states: Sequence[Held]
    others: Sequence[Held]


class Content(NamedTuple):
    """What a page shows of a policy.

    Attributes:
        points: the points of the game, those nearer to the start first.
        places: place of each action's name among all actions of the game; it decides on colours.
        ranks: ranks of the cards, the highest first, if states end with a hand of two cards; for a grid of hands.
    """

    points: Iterable[Point]
    places: Mapping[str, int]
    ranks: str = ""


def content(policy: Policy) -> Content:
    """Return what a page shows of a policy of a compiled game."""
    found = _Points(policy)
    return Content(found, _places(policy.game.sequence_action, found.names))


def _places(numbers: np.ndarray, names: Sequence[str]) -> dict[str, int]:
    """Return the places of actions, from the number and the name of each sequence's: by number, if names allow it."""
    pairs = sorted(set(zip(np.unique(numbers, return_inverse=True)[1].tolist(), names, strict=True)))
    places = {name: place for place, name in pairs}
    if len(places) == len(pairs):
        return places
    return {name: place for place, name in enumerate(places)}


class _Points:
    """The points, and the arrays from which they are made."""

    def __init__(self, policy: Policy) -> None:
        tree = self.tree = policy.game
        self.policy = policy
        self.states: PublicStates = public_states(tree)
        self.along: Histories = followed(tree, policy.probabilities)
        self.figures: Analysis = analysed(tree, self.along)
        self.names = [move_in_words(tree.openspiel_name, name) for name in sequence_names(tree)]
        self.words = [in_words(tree.openspiel_name, key) for key in tree.infoset_keys]
        self.reach = self.along.reach.prod(axis=0)
        self.last = self._last_moves()
        self.order = np.argsort(self.states.of_history, kind="stable")
        self.begin = np.searchsorted(self.states.of_history[self.order], np.arange(len(self.states.parent) + 1))
        self.moves = self._moves()
        self.mass = np.bincount(self.states.of_history, self.reach)

    def __iter__(self) -> Iterator[Point]:
        of, value = self.states.of_history, self.along.value
        worth, plain = np.bincount(of, self.reach * value), np.bincount(of, value) / np.diff(self.begin)
        for number, above in enumerate(self.states.parent.tolist()):
            histories = self.order[self.begin[number] : self.begin[number + 1]]
            mass, before = self.mass[number], self.mass[above] if above >= 0 else 1.0
            actor = int(self.tree.histories["actor"][histories].min())
            acting = histories[self.tree.histories["actor"][histories] == actor]  # others may have ended
            yield Point(
                above,
                self.moves[number],
                ENDS if actor == TERMINAL else actor,
                float(mass / before) if before > 0 else 0.0,
                float(worth[number] / mass if mass > 0 else plain[number]),
                self._own(acting, mass) if actor < CHANCE else (),
                self._others(acting, 1 - actor, mass) if actor < CHANCE else (),
            )

    def _own(self, histories: np.ndarray, mass: float) -> list[Held]:
        own, number = np.unique(self.tree.histories["infoset"][histories], return_inverse=True)
        reached, found = np.bincount(number.ravel(), self.reach[histories]), []
        for infoset, likely in zip(own.tolist(), reached.tolist(), strict=True):
            rows = self.tree.infoset_sequences(infoset)
            actions = zip(
                self.names[rows],
                self.policy.probabilities[rows].tolist(),
                self.figures.gain[rows].tolist(),
                strict=True,
            )
            share = likely / mass if mass > 0 else 0.0
            value = float(self.figures.value[infoset])
            found.append(Held(self.tree.infoset_keys[infoset], share, value, tuple(actions), self.words[infoset]))
        return found

    def _others(self, histories: np.ndarray, player: int, mass: float) -> list[Held]:
        last, number = np.unique(self.last[player, histories], return_inverse=True)
        shares = np.bincount(number.ravel(), self.reach[histories])
        owner, found = self.tree.owner, []
        for sequence, share in zip(last.tolist(), shares.tolist(), strict=True):
            if sequence >= 0:
                text, words = (
                    f"{one[owner[sequence]]} → {self.names[sequence]}" for one in (self.tree.infoset_keys, self.words)
                )
                found.append(Held(text, share / mass if mass > 0 else 0.0, words=words))
        return found

    def _last_moves(self) -> np.ndarray:
        """Return each player's last sequence before each history, (2, histories); -1 if the player has not moved."""
        found = np.full((2, self.tree.num_histories), -1)
        for level, above, _ in self.tree.levels():
            for player in (0, 1):
                own = self.tree.histories["actor"][above] == player
                found[player, level] = np.where(own, self.along.taken[level], found[player, above])
        return found

    def _moves(self) -> list[str]:
        """Return for each point the name of the move that leads to it; of several moves, how many there are."""
        tree, of = self.tree, self.states.of_history
        led = np.stack([of, tree.edge_action], axis=1)[1:]
        pairs, first = np.unique(led, axis=0, return_index=True)
        counts = np.bincount(pairs[:, 0], minlength=len(self.states.parent))
        named = counts[pairs[:, 0]] <= MOST_NAMES
        asked = first[named] + 1
        names = edge_names(tree, asked)
        found: list[list[str]] = [[] for _ in counts]
        for point, history in zip(pairs[named, 0].tolist(), asked.tolist(), strict=True):
            found[point].append(move_in_words(tree.openspiel_name, names[history]))
        dealt = tree.histories["actor"][self.along.above[first + 1]] == CHANCE
        by_chance = np.zeros(len(counts), np.bool_)
        by_chance[pairs[:, 0]] = dealt
        hidden = ["one of {} deals" if chance else "one of {} moves" for chance in by_chance.tolist()]
        return [
            " or ".join(own) if own else text.format(count) if count else ""
            for own, text, count in zip(found, hidden, counts.tolist(), strict=True)
        ]
