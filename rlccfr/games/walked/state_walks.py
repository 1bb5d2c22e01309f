"""Games by OpenSpiel's states, for walks in step.

Nothing is compiled: a walk holds a state of OpenSpiel's. A row, which is what the player who acts knows, has the
state's information state tensor, in bits if all of its numbers are 0 or 1, and the legal actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from open_spiel.python.observation import make_observation

from rlccfr.errors import GameError
from rlccfr.games.walked.playouts import Playouts, check_returns
from rlccfr.games.walked.walked_game import TERMINAL


class States(NamedTuple):
    """Histories that walks have reached.

    Attributes:
        states: OpenSpiel's states, at which a player acts or the game has ended.
        actors: (states,) the player who acts, or TERMINAL.
    """

    states: list[Any]
    actors: np.ndarray


class StateWalks:
    """A game by OpenSpiel's states, for walks in step; see :class:`rlccfr.games.walked.walked_game.WalkedGame`.

    Columns of arrays over actions are OpenSpiel's numbers of actions.

    Args:
        game: OpenSpiel's game, in which players move in turn.
        name: its name, for errors.
        utility_sum: what both players' returns sum to.
        playouts: what random playouts have met.

    Attributes:
        num_actions: number of different actions.
        num_columns: number of columns of a tensor.
        row_type: type of a row.
    """

    def __init__(self, game: Any, name: str, utility_sum: float, playouts: Playouts) -> None:
        self._game = game
        self._name = name
        self._utility_sum = utility_sum
        self._is_binary = playouts.is_binary
        self.num_actions = int(game.num_distinct_actions())
        self.num_columns = int(game.information_state_tensor_size())
        # Numbers that are not bits are divided by the largest size that playouts met in their column.
        self._scale = np.maximum(np.maximum(-playouts.least, playouts.largest), np.float32(1e-6))
        tensor = (np.uint8, -(-self.num_columns // 8)) if self._is_binary else (np.float32, self.num_columns)
        self.row_type = np.dtype([("tensor", *tensor), ("legal", np.uint8, -(-self.num_actions // 8))])
        self._read = _tensor_reader(game, self._states_on_a_path(np.random.default_rng(0)))

    def _states_on_a_path(self, rng: np.random.Generator) -> list[Any]:
        """Return the states of a random playout at which players act."""
        decisions = []
        states = self.begin(1, rng)
        while states.actors[0] != TERMINAL:
            state = states.states[0]
            decisions.append(state)
            actions = state.legal_actions()
            drawn = np.array([actions[int(rng.integers(len(actions)))]])
            states = self.children(states, np.zeros(1, np.int64), drawn, rng)
        return decisions

    def begin(self, count: int, rng: np.random.Generator) -> States:
        """Return the states of ``count`` new walks at the first decision."""
        root = self._game.new_initial_state()
        return self._after_chance([root.clone() for _ in range(count)], rng)

    def _after_chance(self, states: list[Any], rng: np.random.Generator) -> States:
        """Let chance move in states, in place, until a player acts."""
        actors = np.empty(len(states), np.int64)
        for place, state in enumerate(states):
            while state.is_chance_node():
                state.apply_action(drawn_outcome(state, rng))
            actors[place] = TERMINAL if state.is_terminal() else state.current_player()
        return States(states, actors)

    def actors(self, states: States) -> np.ndarray:
        """Return the player who acts at each state, (states,), or TERMINAL."""
        return states.actors

    def rows(self, states: States, chosen: np.ndarray) -> np.ndarray:
        """Return the tensors and the legal actions at some states, (chosen,) of type :attr:`row_type`.

        Raises:
            GameError: a tensor has numbers other than 0 and 1, and no playout has met such numbers.
        """
        tensors = np.empty((len(chosen), self.num_columns), np.float32)
        legal = np.zeros((len(chosen), self.num_actions), bool)
        for place, number in enumerate(chosen.tolist()):
            state = states.states[number]
            self._read(state, tensors[place])
            legal[place, state.legal_actions()] = True
        rows = np.empty(len(chosen), self.row_type)
        rows["legal"] = np.packbits(legal, axis=1)
        if not self._is_binary:
            rows["tensor"] = tensors
            return rows
        bits = tensors != 0
        if not (tensors[bits] == 1).all():
            raise GameError(
                f"the information state tensors of {self._name!r} have numbers other than 0 and 1, which no playout "
                "has met: load the game without form='generated'"
            )
        rows["tensor"] = np.packbits(bits, axis=1)
        return rows

    def row_of(self, state: Any) -> np.void:
        """Return what the player who acts at one of OpenSpiel's states knows."""
        row: np.void = self.rows(States([state], np.zeros(1, np.int64)), np.zeros(1, np.int64))[0]
        return row

    def legal(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each action is legal at each row, (rows, actions)."""
        return np.unpackbits(rows["legal"], axis=1, count=self.num_actions).astype(bool)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Return what a network reads of each row, (rows, columns) float32, about from -1 to 1."""
        if self._is_binary:
            return np.unpackbits(rows["tensor"], axis=1, count=self.num_columns).astype(np.float32)
        features: np.ndarray = rows["tensor"] / self._scale
        return features

    def children(self, states: States, chosen: np.ndarray, action: np.ndarray, rng: np.random.Generator) -> States:
        """Return the states after actions, and after the chance moves that follow."""
        pairs = zip(chosen.tolist(), action.tolist(), strict=True)
        return self._after_chance([states.states[parent].child(column) for parent, column in pairs], rng)

    def payoffs(self, states: States, chosen: np.ndarray) -> np.ndarray:
        """Return player 0's payoff at some terminal states, (chosen,).

        Raises:
            GameError: both players' returns are not finite, or do not sum to what the game declares.
        """
        returns = np.array([states.states[number].returns() for number in chosen.tolist()]).reshape(-1, 2)
        check_returns(returns, self._utility_sum, self._name)
        return returns[:, 0]


def drawn_outcome(state: Any, rng: np.random.Generator) -> int:
    """Draw a chance outcome at a state."""
    outcomes = state.chance_outcomes()
    if len(outcomes) == 1:
        return int(outcomes[0][0])
    draw = rng.random() * sum(probability for _, probability in outcomes)
    for outcome, probability in outcomes:
        draw -= probability
        if draw < 0:
            return int(outcome)
    # Rounding may leave a little; the last outcome that is possible takes it.
    return next(int(outcome) for outcome, probability in reversed(outcomes) if probability > 0)


Reader = Callable[[Any, np.ndarray], None]
"""Function of a state and an array, (columns,), that writes the acting player's tensor into the array."""


def _tensor_reader(game: Any, states: Sequence[Any]) -> Reader:
    """Return the fastest reader of a game's tensors.

    OpenSpiel's observers write numbers into memory directly, which takes a tenth of the time that lists of numbers
    take. An observer is used if it agrees with the lists.

    Args:
        game: the game.
        states: some states at which to compare both.
    """
    observed = _observing_reader(game)
    if observed is None:
        return _read_list
    both = np.empty((2, game.information_state_tensor_size()), np.float32)
    for state in states:
        observed(state, both[0])
        _read_list(state, both[1])
        if not np.array_equal(both[0], both[1]):
            return _read_list
    return observed


def _read_list(state: Any, tensor: np.ndarray) -> None:
    """Read a tensor as a list of numbers; a :data:`Reader`."""
    tensor[:] = state.information_state_tensor(state.current_player())


def _observing_reader(game: Any) -> Reader | None:
    """Return a reader by an observer of OpenSpiel's; None if the game has none with numbers as many as a tensor's."""
    if hasattr(game, "make_py_observer"):  # a game in Python
        return None
    try:
        observation = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    except pyspiel.SpielError:  # the game has no such observer
        return None
    if observation is None or observation.tensor is None:
        return None
    if len(observation.tensor) != game.information_state_tensor_size():
        return None

    def read(state: Any, tensor: np.ndarray) -> None:
        observation.set_from(state, state.current_player())
        tensor[:] = observation.tensor

    return read
