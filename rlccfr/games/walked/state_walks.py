"""Games represented by OpenSpiel's states, for walks that move in step.

Nothing is compiled: each walk holds one of OpenSpiel's states. A row, which is what the player who acts knows, has the
player's information state tensor and the legal actions. Tensors are stored as bits if playouts have met only 0 and 1.
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

LARGEST_FEATURE = np.float32(10.0)
"""Largest size of a network's input in a game whose tensors are not binary; few inputs are above 1."""


class States(NamedTuple):
    """Histories that walks have reached.

    Attributes:
        states: OpenSpiel's states; at each of them, a player acts or the game has ended.
        actors: (states,) the player who acts, or TERMINAL.
        last: (states,) the action that led to each state; -1 after a chance move and at the root.
    """

    states: list[Any]
    actors: np.ndarray
    last: np.ndarray


class StateWalks:
    """A game represented by OpenSpiel's states, for walks that move in step.

    See :class:`rlccfr.games.walked.walked_game.WalkedGame`.

    An array over actions has a column for each of OpenSpiel's action numbers.

    Args:
        game: OpenSpiel's game, in which players move in turn.
        name: its name, for errors.
        utility_sum: what both players' returns sum to.
        playouts: what random playouts have met.

    Attributes:
        num_actions: number of different actions.
        num_columns: number of columns of a tensor.
        row_type: type of a row.
        history_type: type of a history's row: both players' tensors, the action that led there, the player who acts,
            and an action of that player.
    """

    def __init__(self, game: Any, name: str, utility_sum: float, playouts: Playouts) -> None:
        self._game = game
        self._name = name
        self._utility_sum = utility_sum
        self._is_binary = playouts.is_binary
        self.num_actions = int(game.num_distinct_actions())
        self.num_columns = int(game.information_state_tensor_size())
        # Numbers that are not bits are divided by the largest size that playouts met in their column; where they met
        # only 0, by the largest that they met in any column.
        sizes = np.maximum(-playouts.least, playouts.largest)
        self._scale = np.where(sizes > 0, sizes, sizes.max(initial=0.0) or np.float32(1.0))
        tensor = (np.uint8, -(-self.num_columns // 8)) if self._is_binary else (np.float32, self.num_columns)
        self.row_type = np.dtype([("tensor", *tensor), ("legal", np.uint8, -(-self.num_actions // 8))])
        number = np.int16 if self.num_actions <= 2**15 else np.int32  # of an action, counted from 0
        moves = [("last", number), ("actor", np.int8), ("action", number)]
        self.history_type = np.dtype([("first", *tensor), ("second", *tensor), *moves])
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
        return self._after_chance([root.clone() for _ in range(count)], np.full(count, -1), rng)

    def _after_chance(self, states: list[Any], last: np.ndarray, rng: np.random.Generator) -> States:
        """Let chance move in states, in place, until a player acts.

        Args:
            last: (states,) the action that led to each state; set to -1, in place, where chance moves.
        """
        actors = np.empty(len(states), np.int64)
        for place, state in enumerate(states):
            while state.is_chance_node():
                state.apply_action(drawn_outcome(state, rng))
                last[place] = -1
            actors[place] = TERMINAL if state.is_terminal() else state.current_player()
        return States(states, actors, last)

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
            self._read(state, state.current_player(), tensors[place])
            legal[place, state.legal_actions()] = True
        rows = np.empty(len(chosen), self.row_type)
        rows["legal"] = np.packbits(legal, axis=1)
        rows["tensor"] = self._packed(tensors)
        return rows

    def _packed(self, tensors: np.ndarray) -> np.ndarray:
        """Return tensors, (rows, columns), as they are stored in rows.

        Raises:
            GameError: see :meth:`rows`.
        """
        if not self._is_binary:
            return tensors
        bits = tensors != 0
        if not (tensors[bits] == 1).all():
            raise GameError(
                f"the information state tensors of {self._name!r} have numbers other than 0 and 1, but random "
                "playouts met only 0 and 1 when the game was loaded: load it without form='generated'"
            )
        return np.packbits(bits, axis=1)

    def _unpacked(self, tensors: np.ndarray) -> np.ndarray:
        """Return stored tensors as a network's inputs, (rows, columns) float32, from about -1 to about 1.

        Numbers that are far larger than those that playouts met are clipped to :data:`LARGEST_FEATURE`.
        """
        if self._is_binary:
            return np.unpackbits(tensors, axis=1, count=self.num_columns).astype(np.float32)
        unpacked: np.ndarray = np.clip(tensors / self._scale, -LARGEST_FEATURE, LARGEST_FEATURE)
        return unpacked

    def histories(self, states: States, chosen: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Return rows of the histories at some states, (chosen,) of type :attr:`history_type`.

        A row also has the last action, because tensors may hide it where moves are simultaneous.

        Args:
            action: (chosen,) an action of the player who acts at each of them.
        """
        tensors = np.empty((2, len(chosen), self.num_columns), np.float32)
        for place, number in enumerate(chosen.tolist()):
            for player in (0, 1):
                self._read(states.states[number], player, tensors[player, place])
        rows = np.empty(len(chosen), self.history_type)
        rows["first"] = self._packed(tensors[0])
        rows["second"] = self._packed(tensors[1])
        rows["last"] = states.last[chosen]
        rows["actor"] = states.actors[chosen]
        rows["action"] = action
        return rows

    @property
    def num_history_columns(self) -> int:
        """Number of columns of :meth:`history_features`."""
        return 2 * self.num_columns + self.num_actions + 1

    def history_features(self, rows: np.ndarray) -> np.ndarray:
        """Return a network's inputs at histories, (rows, columns) float32; a row's ``action`` is not among them."""
        last = np.zeros((len(rows), self.num_actions), np.float32)
        follows_action = np.flatnonzero(rows["last"] >= 0)
        last[follows_action, rows["last"][follows_action]] = 1.0
        actor = rows["actor"][:, None].astype(np.float32)
        return np.hstack([self._unpacked(rows["first"]), self._unpacked(rows["second"]), last, actor])

    def taken(self, rows: np.ndarray) -> np.ndarray:
        """Return an array, (rows, actions), that is True only at the action in each history's row."""
        is_taken: np.ndarray = np.arange(self.num_actions) == rows["action"][:, None]
        return is_taken

    def row_of(self, state: Any) -> np.void:
        """Return the row of the player who acts at one of OpenSpiel's states."""
        first_place = np.zeros(1, np.int64)
        row: np.void = self.rows(States([state], actors=first_place, last=first_place), first_place)[0]
        return row

    def legal(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each action is legal at each row, (rows, actions)."""
        return np.unpackbits(rows["legal"], axis=1, count=self.num_actions).astype(bool)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Return a network's inputs at each row, (rows, columns) float32, from about -1 to about 1."""
        return self._unpacked(rows["tensor"])

    def children(self, states: States, chosen: np.ndarray, action: np.ndarray, rng: np.random.Generator) -> States:
        """Return the states after actions, and after the chance moves that follow."""
        pairs = zip(chosen.tolist(), action.tolist(), strict=True)
        children = [states.states[parent].child(column) for parent, column in pairs]
        # A copy, since chance moves overwrite the last actions in place.
        return self._after_chance(children, action.copy(), rng)

    def payoffs(self, states: States, chosen: np.ndarray) -> np.ndarray:
        """Return player 0's payoff at some terminal states, (chosen,).

        Raises:
            GameError: a return is not finite, or both players' returns do not sum to what the game declares.
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
    # Rounding may leave a remainder, which goes to the last outcome that is possible.
    return next(int(outcome) for outcome, probability in reversed(outcomes) if probability > 0)


Reader = Callable[[Any, int, np.ndarray], None]
"""Function of a state, a player and an array, (columns,), that writes the player's tensor into the array."""


def _tensor_reader(game: Any, states: Sequence[Any]) -> Reader:
    """Return the fastest reader of a game's tensors.

    OpenSpiel's observers write numbers into memory directly, which is faster than making lists of numbers. An observer
    is used if it agrees with the lists.

    Args:
        game: the game.
        states: some states at which to compare both.
    """
    observed = _observing_reader(game)
    if observed is None:
        return _read_list
    both = np.empty((2, game.information_state_tensor_size()), np.float32)
    for state in states:
        observed(state, state.current_player(), both[0])
        _read_list(state, state.current_player(), both[1])
        if not np.array_equal(both[0], both[1]):
            return _read_list
    return observed


def _read_list(state: Any, player: int, tensor: np.ndarray) -> None:
    """Read a tensor as a list of numbers; a :data:`Reader`."""
    tensor[:] = state.information_state_tensor(player)


def _observing_reader(game: Any) -> Reader | None:
    """Return a reader that uses an OpenSpiel observer; None for a game in Python, or one without such an observer.

    It is also None if the observer's tensor differs in length from the game's information state tensor.
    """
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

    def read(state: Any, player: int, tensor: np.ndarray) -> None:
        observation.set_from(state, player)
        tensor[:] = observation.tensor

    return read
