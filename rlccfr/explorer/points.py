"""What a page shows at each point of a game: the moves that lead on, and both players' states there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.errors import GameError
from rlccfr.explorer.public_states import public_states
from rlccfr.games.openspiel_policies import edge_names, sequence_names
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.games.words import in_words, move_in_words
from rlccfr.policies.analysis import figures_of_histories, figures_of_infosets
from rlccfr.policy import Policy

MOST_STATES = 200_000
"""Default limit on the number of players' states on a page; a page with that many has about ten megabytes."""

MOST_NAMES = 3
"""If at most this many moves lead to a point, the page shows their names; otherwise, only their number."""

ENDS = -1
"""Actor of a point at which the game has ended."""


class PlayerState(NamedTuple):
    """A state of a player at a point.

    Attributes:
        text: what the player knows.
        share: probability of the state, given the point.
        value: the player's expected payoff in the game's units; NaN if the moves of the opponent and of chance never
            lead to the state.
        actions: for each action its name, its probability, and its gain: by how much its expected payoff exceeds
            ``value``.
        words: what the player knows, in words to display; empty if only ``text`` is shown.
    """

    text: str
    share: float
    value: float = float("nan")
    actions: Sequence[tuple[str, float, float]] = ()
    words: str = ""


class Point(NamedTuple):
    """A point of the game: all that both players have seen.

    Attributes:
        parent: index of the point before it; -1 for the first one.
        move: name of the move that leads to it; for the first point, the path that leads to it.
        actor: 0 or 1, the player who moves; CHANCE; or ENDS.
        share: probability of the move, given the parent.
        value: player 0's expected payoff, in the game's units.
        states: states of the player who moves. Their shares sum to less than 1 if the game has ended in some histories
            of the point, or the opponent moves in some.
        opponent_states: states of the opponent at the opponent's last decision, each with the move made there.
    """

    parent: int
    move: str
    actor: int
    share: float
    value: float
    states: Sequence[PlayerState]
    opponent_states: Sequence[PlayerState]


class Content(NamedTuple):
    """What a page shows of a policy.

    Attributes:
        points: the points of the game, those nearer to the start first.
        places: index of each action's name among all actions of the game, which determines its colour.
        ranks: ranks of the cards, the highest first, if the page shows a grid of hands of two cards; otherwise empty.
    """

    points: Iterable[Point]
    places: Mapping[str, int]
    ranks: str = ""


def any_content(policy: Policy, start: str = "", most: int = MOST_STATES) -> Content:
    """Return what a page shows of a policy of any game.

    Args:
        policy: the policy.
        start: path of the first point, for games whose pages can begin anywhere.
        most: largest number of states, for games that are too large for a page; once it is reached, further points have
            no states or are left out.

    Raises:
        GameError: no point has the path, or a start is given although the game's page can begin only at the root.
    """
    page: Content = policy.game.form.part("page")(policy, start, most)
    return page


def whole_page(policy: Policy, start: str, most: int) -> Content:
    """Return what a page shows of a policy of a compiled game: the whole game.

    Raises:
        GameError: a start is given.
    """
    if start:
        raise GameError(
            f"{policy.game.name!r} has no public tree, so its page can't start at {start!r}: leave out the start, "
            "so that the page shows the whole game"
        )
    return content(policy)


def content(policy: Policy) -> Content:
    """Return what a page shows of a policy of a compiled game."""
    points = _Points(policy)
    return Content(points, _places(policy.game.sequence_action, points.names))


def _places(numbers: np.ndarray, names: Sequence[str]) -> dict[str, int]:
    """Return the index of each action's name among all actions of a game.

    Actions are ordered by their numbers; a name that belongs to several numbers is placed by the smallest.

    Args:
        numbers: (m,) number of each sequence's action.
        names: name of each sequence's action.
    """
    ranks = np.unique(numbers, return_inverse=True)[1].tolist()
    pairs = sorted(set(zip(ranks, names, strict=True)))
    places = {name: place for place, name in pairs}
    if len(places) == len(pairs):
        return places
    # A dict keeps a repeated key at its first position: here, in the order of the name's smallest number.
    return {name: place for place, name in enumerate(places)}


class _Points:
    """The points of a compiled game, as an iterable.

    Attributes:
        names: name of each sequence's action, for display.
        words: what the player knows at each infoset, in words to display.
        reach: (histories,) probability of each history under the policy.
        last_sequence: (2, histories) each player's last sequence before each history; -1 before the first move.
        order: (histories,) histories sorted by public state; those of state k are ``order[begin[k] : begin[k + 1]]``.
        begin: (states + 1,) where each public state's histories begin in ``order``.
        moves: for each public state, the names of the moves that lead to it, or their number.
        mass: (states,) probability of each public state.
    """

    def __init__(self, policy: Policy) -> None:
        tree = policy.game
        self.tree = tree
        self.policy = policy
        self.states = public_states(tree)
        self.history_figures = figures_of_histories(tree, policy.probabilities)
        self.infoset_figures = figures_of_infosets(tree, self.history_figures)
        self.names = [move_in_words(tree.openspiel_name, name) for name in sequence_names(tree)]
        self.words = [in_words(tree.openspiel_name, key) for key in tree.infoset_keys]
        self.reach = self.history_figures.reach.prod(axis=0)
        self.last_sequence = self._last_sequences()
        self.order = np.argsort(self.states.of_history, kind="stable")
        state_numbers = np.arange(len(self.states.parent) + 1)
        self.begin = np.searchsorted(self.states.of_history[self.order], state_numbers)
        self.moves = self._moves()
        self.mass = np.bincount(self.states.of_history, self.reach)

    def __iter__(self) -> Iterator[Point]:
        state_of_history = self.states.of_history
        value = self.history_figures.value
        # A state's value is the mean over its histories, weighted by reach; unweighted if the policy never leads there.
        reach_weighted_value = np.bincount(state_of_history, self.reach * value)
        plain_mean_value = np.bincount(state_of_history, value) / np.diff(self.begin)
        for number, parent in enumerate(self.states.parent.tolist()):
            histories = self.order[self.begin[number] : self.begin[number + 1]]
            mass = self.mass[number]
            parent_mass = self.mass[parent] if parent >= 0 else 1.0
            actors = self.tree.histories["actor"][histories]
            actor = int(actors.min())
            acting = histories[actors == actor]  # the state's other histories may have ended
            has_decision = actor < CHANCE
            yield Point(
                parent,
                self.moves[number],
                ENDS if actor == TERMINAL else actor,
                float(mass / parent_mass) if parent_mass > 0 else 0.0,
                float(reach_weighted_value[number] / mass if mass > 0 else plain_mean_value[number]),
                self._states_of_actor(acting, mass) if has_decision else (),
                self._states_of_opponent(acting, 1 - actor, mass) if has_decision else (),
            )

    def _states_of_actor(self, histories: np.ndarray, mass: float) -> list[PlayerState]:
        """Return the states of the player who acts at some histories of a public state.

        Args:
            histories: (k,) the histories.
            mass: probability of the public state.
        """
        # Histories of one infoset differ in what the player does not see, so their reach is added up.
        infosets, infoset_index = np.unique(self.tree.histories["infoset"][histories], return_inverse=True)
        infoset_reach = np.bincount(infoset_index.ravel(), self.reach[histories])
        states = []
        for infoset, reach in zip(infosets.tolist(), infoset_reach.tolist(), strict=True):
            rows = self.tree.infoset_sequences(infoset)
            actions = zip(
                self.names[rows],
                self.policy.probabilities[rows].tolist(),
                self.infoset_figures.gain[rows].tolist(),
                strict=True,
            )
            share = reach / mass if mass > 0 else 0.0
            value = float(self.infoset_figures.value[infoset])
            states.append(
                PlayerState(self.tree.infoset_keys[infoset], share, value, tuple(actions), self.words[infoset])
            )
        return states

    def _states_of_opponent(self, histories: np.ndarray, opponent: int, mass: float) -> list[PlayerState]:
        """Return the opponent's states at some histories: those at the opponent's last decision, with the move made.

        Args:
            histories: (k,) the histories.
            opponent: the player who does not act.
            mass: probability of the public state.
        """
        sequences, sequence_index = np.unique(self.last_sequence[opponent, histories], return_inverse=True)
        sequence_reach = np.bincount(sequence_index.ravel(), self.reach[histories])
        states = []
        for sequence, reach in zip(sequences.tolist(), sequence_reach.tolist(), strict=True):
            if sequence < 0:  # the opponent has not moved yet
                continue
            infoset = self.tree.owner[sequence]
            move = self.names[sequence]
            text = f"{self.tree.infoset_keys[infoset]} → {move}"
            words = f"{self.words[infoset]} → {move}"
            states.append(PlayerState(text, reach / mass if mass > 0 else 0.0, words=words))
        return states

    def _last_sequences(self) -> np.ndarray:
        """Return each player's last sequence before each history, (2, histories); -1 if the player has not moved."""
        last_sequence = np.full((2, self.tree.num_histories), -1)
        for level, parents, _ in self.tree.levels():
            for player in (0, 1):
                has_moved = self.tree.histories["actor"][parents] == player
                last_sequence[player, level] = np.where(
                    has_moved, self.history_figures.sequence[level], last_sequence[player, parents]
                )
        return last_sequence

    def _moves(self) -> list[str]:
        """Return for each point the names of the moves that lead to it or, if there are many, only their number."""
        tree = self.tree
        num_states = len(self.states.parent)
        # Each pair of a public state and an action that leads to it, with the first history after that move.
        state_and_action = np.stack([self.states.of_history, tree.edge_action], axis=1)[1:]  # nothing leads to the root
        pairs, first_row = np.unique(state_and_action, axis=0, return_index=True)
        first_history = first_row + 1
        states = pairs[:, 0]
        counts = np.bincount(states, minlength=num_states)

        is_named = counts[states] <= MOST_NAMES
        named_histories = first_history[is_named]
        names = edge_names(tree, named_histories)
        names_of_state: list[list[str]] = [[] for _ in counts]
        for state, history in zip(states[is_named].tolist(), named_histories.tolist(), strict=True):
            names_of_state[state].append(move_in_words(tree.openspiel_name, names[history]))

        by_chance = np.zeros(num_states, np.bool_)
        by_chance[states] = tree.histories["actor"][self.history_figures.parent[first_history]] == CHANCE
        moves = []
        for state_names, count, chance in zip(names_of_state, counts.tolist(), by_chance.tolist(), strict=True):
            if state_names:
                moves.append(" or ".join(state_names))
            elif count:
                moves.append(f"one of {count} {'deals' if chance else 'moves'}")
            else:  # the root
                moves.append("")
        return moves
