"""The traversal of all histories of a game, from which the game is compiled."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlccfr.errors import GameError, brief
from rlccfr.games.claims import after, broken_at, check_claims, no_moves
from rlccfr.games.histories import Traversal, actions_to
from rlccfr.games.playable import BOTH_MOVE, CHANCE_MOVES, GAME_ENDS, Playable, State
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.games.size import check_memory, check_size, too_many_histories

MOST_MOVES = 10_000
"""Largest number of moves on a path; a game that never ends would otherwise be followed forever."""

NO_TEXT = -1
"""Takes the place of an infoset's index if the information state is not a string."""

REPORT_EVERY = 20_000
"""Number of histories, visited in about a sixth of a second, after which memory is checked and ``progress`` called."""

LastMove = tuple[int, ...]
"""A player's last (infoset, action), or () if the player has not moved."""


_Child = tuple[int, float, tuple[LastMove, LastMove]]
"""A history that is still to be visited: the action or chance outcome that leads to it, that outcome's probability (1
for an action), and each player's last move. Its state is made only at the visit, since some states take megabytes."""


class _OpenHistory(NamedTuple):
    """A history with children that are still to be visited."""

    state: Any
    number: int
    depth: int
    child_share: float  # each child's share of all work, as if siblings had subtrees of equal size
    children: list[_Child]  # the last one is visited next


class _Columns:
    """The histories visited so far, depth first, as one array per property; returns are stored only for terminals."""

    def __init__(self) -> None:
        self.parent = array("i")
        self.depth = array("i")
        self.action = array("q")
        self.actor = array("b")
        self.infoset = array("i")
        self.probability = array("d")
        self.utility = array("d")
        self.opponent_utility = array("d")

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, parent: _OpenHistory, action: int, probability: float, actor: int, infoset: int) -> None:
        """Add a history.

        Args:
            parent: the history's parent.
            action: the action or chance outcome that leads to the history.
            probability: probability of the chance outcome; 1 after an action.
            actor: 0, 1, CHANCE or TERMINAL.
            infoset: the actor's infoset; -1 where no player moves.
        """
        self.parent.append(parent.number)
        self.depth.append(parent.depth + 1)
        self.action.append(action)
        self.actor.append(actor)
        self.infoset.append(infoset)
        self.probability.append(probability)

    def end(self, returns: Sequence[float], name: str) -> None:
        """Add the returns of the history that was added last.

        Raises:
            GameError: there are not two returns, one for each player.
        """
        if not hasattr(returns, "__len__"):
            raise self.broken(name, f"the returns are {brief(returns)}; there must be one for each of the two players")
        if len(returns) != 2:
            raise self.broken(name, f"there are {len(returns)} returns; there must be one for each of the two players")
        self.utility.append(returns[0])
        self.opponent_utility.append(returns[1])

    def broken(self, name: str, fault: str) -> GameError:
        """Return the error for a fault at the history that was added last."""
        return broken_at(name, after(actions_to(len(self) - 1, self.parent, self.action)), fault)


def traverse(
    game: Playable,
    name: str,
    restore_recall: bool,
    max_histories: int,
    progress: Callable[[float], None] | None,
    utility_sum: float = 0.0,
) -> tuple[Traversal, int]:
    """Visit every history, depth first, and check the game's claims; see :mod:`rlccfr.games.claims`.

    Args:
        game, name: the game, and its name for errors.
        restore_recall: whether to distinguish histories of one information state by the player's own last move.
        max_histories: largest number of histories.
        progress: function that is called now and then with the share of the work that is done.
        utility_sum: what the players' utilities must sum to.

    Returns:
        The traversal, and the number of infosets without perfect recall.

    Raises:
        GameError: a claim is broken, or there are more histories than ``max_histories`` or than fit into memory.
    """
    columns = _Columns()
    infosets = _SeenInfosets(restore_recall)
    _visit_all(game, name, columns, infosets, max_histories, progress)
    check_memory(name, len(columns))
    walk = _breadth_first(columns, infosets)
    check_claims(walk, name, utility_sum)
    return walk, len(infosets.forgetful)


def _visit_all(
    game: Playable,
    name: str,
    columns: _Columns,
    infosets: _SeenInfosets,
    max_histories: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Add all histories of a game to ``columns``, depth first, and their infosets to ``infosets``.

    See :func:`traverse`.
    """
    share_done = 0.0
    # The root is treated as the only child of a history that does not exist.
    stack = [_OpenHistory(None, -1, -1, 1.0, [(-1, 1.0, ((), ()))])]
    while stack:
        parent = stack[-1]
        number = len(columns)
        if not parent.children:  # all histories below it have been visited
            stack.pop()
            continue
        if number >= max_histories or parent.depth > MOST_MOVES:
            raise _too_large(name, number, max_histories)
        if number % REPORT_EVERY == 0:
            _check_room(game, name, number, max_histories, progress, share_done)

        action, probability, last_moves = parent.children.pop()
        state = game.new_initial_state() if parent.state is None else parent.state.child(action)
        actor = int(state.current_player())  # games in Python may return an enum, which has no order
        if actor in (0, 1):
            actions = state.legal_actions()
            key = state.information_state_string(actor)
            infoset = infosets.number(actor, key, last_moves[actor], actions) if isinstance(key, str) else NO_TEXT
            columns.add(parent, action, probability, actor, infoset)
            if infoset == NO_TEXT:
                raise columns.broken(name, f"the information state is {brief(key)}; it must be a string")
            children = _after_decision(actor, infoset, actions, last_moves)
        elif actor == GAME_ENDS:
            columns.add(parent, action, probability, TERMINAL, -1)
            columns.end(state.returns(), name)
            share_done += parent.child_share
            continue
        else:
            columns.add(parent, action, probability, CHANCE, -1)
            children = _after_chance(state, last_moves) if actor == CHANCE_MOVES else []
        if not children:
            raise columns.broken(name, stuck(actor))
        stack.append(_OpenHistory(state, number, parent.depth + 1, parent.child_share / len(children), children))


def _check_room(
    game: Playable,
    name: str,
    num_visited: int,
    max_histories: int,
    progress: Callable[[float], None] | None,
    share_done: float,
) -> None:
    """Check a game's size against the limit and memory, and call ``progress`` with the share of the work that is done.

    See :mod:`rlccfr.games.size`.
    """
    if num_visited == REPORT_EVERY:  # smaller games are compiled sooner than their size is estimated
        check_size(game, name, max_histories)
    check_memory(name, num_visited)
    if progress:
        progress(share_done)


def _too_large(name: str, num_visited: int, max_histories: int) -> GameError:
    """Return the error for a game with too many histories, or else for one with a path that is too long."""
    if num_visited >= max_histories:
        return too_many_histories(name, max_histories)
    return GameError(
        f"{name!r} has a path of more than {MOST_MOVES:,} moves; games with such long paths are not solved"
    )


def stuck(actor: int) -> str:
    """Return what is wrong with a history that has no children, although ``actor`` has to move."""
    if actor in (0, 1):
        return no_moves(actor)
    if actor == CHANCE_MOVES:
        return no_moves(CHANCE)
    if actor == BOTH_MOVE:
        return "both players move at once, which the game's type does not declare; they must move in turn"
    return f"the player to move is {actor}; it must be 0, 1, {CHANCE_MOVES} for chance or {GAME_ENDS} at the end"


def _after_decision(
    actor: int, infoset: int, actions: list[int], last_moves: tuple[LastMove, LastMove]
) -> list[_Child]:
    """Return the histories below a player's decision, the last action first, so that the first one is visited next."""
    last_0, last_1 = last_moves
    if actor == 0:
        return [(action, 1.0, ((infoset, action), last_1)) for action in reversed(actions)]
    return [(action, 1.0, (last_0, (infoset, action))) for action in reversed(actions)]


def _after_chance(state: State, last_moves: tuple[LastMove, LastMove]) -> list[_Child]:
    """Return the histories below a chance node, the last outcome first, without outcomes of probability 0.

    Numbers that are not probabilities are kept, so that a later check reports them.
    """
    outcomes = reversed(state.chance_outcomes())
    return [(outcome, probability, last_moves) for outcome, probability in outcomes if probability != 0]


def _breadth_first(columns: _Columns, infosets: _SeenInfosets) -> Traversal:
    """Return the histories level by level: those of a level are in the order in which they were visited."""
    arrays = {name: np.array(column) for name, column in vars(columns).items()}
    is_terminal = arrays["actor"] == TERMINAL
    for name in ("utility", "opponent_utility"):
        returns = np.zeros(len(is_terminal))
        returns[is_terminal] = arrays[name]
        arrays[name] = returns
    order = np.argsort(arrays["depth"], kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    arrays = {name: column[order] for name, column in arrays.items()}
    # Histories have been renumbered, so parents are, too.
    arrays["parent"] = np.where(arrays["parent"] >= 0, rank[arrays["parent"]], -1)
    return Traversal(
        **arrays,
        infoset_player=np.array(infosets.owners),
        infoset_level=np.array(infosets.levels),
        infoset_keys=infosets.keys,
    )


class _SeenInfosets:
    """The infosets met so far, numbered in order of discovery, and a record of those without perfect recall.

    Attributes:
        owners: player of each infoset.
        levels: number of the player's earlier moves at each infoset.
        keys: information state of each infoset.
        forgetful: numbers of the infosets whose histories differ in their owner's last move.
    """

    def __init__(self, restore_recall: bool) -> None:
        self._restore_recall = restore_recall
        self._numbers: dict[Any, int] = {}
        self._last_moves: list[LastMove] = []
        self._actions: list[list[int]] = []
        self.owners = array("b")
        self.levels = array("i")
        self.keys: list[str] = []
        self.forgetful: set[int] = set()

    def number(self, player: int, text: str, last_move: LastMove, actions: list[int]) -> int:
        """Return the number of the infoset with information state ``text``, and reorder ``actions`` in place.

        Histories of one infoset may list the same actions in different orders. If so, ``actions`` is put into the order
        of the infoset's first history, so that an action has the same index at all its histories. If the actions
        themselves differ, ``actions`` is left as it is.

        Args:
            player: the infoset's owner.
            text: the information state.
            last_move: the owner's last move.
            actions: the legal actions of the history.
        """
        key = (player, text, last_move) if self._restore_recall else (player, text)
        infoset = self._numbers.setdefault(key, len(self._numbers))
        # The key is new, so this is the infoset's first history.
        if infoset == len(self.keys):
            self.owners.append(player)
            # The owner's last infoset lies on the way here, so its level is known.
            self.levels.append(self.levels[last_move[0]] + 1 if last_move else 0)
            self.keys.append(text)
            self._last_moves.append(last_move)
            self._actions.append(actions)
            return infoset
        # With perfect recall, the owner's last move is the same at all histories of an infoset.
        if self._last_moves[infoset] != last_move:
            self.forgetful.add(infoset)
        first_actions = self._actions[infoset]
        if actions != first_actions and sorted(actions) == sorted(first_actions):
            actions[:] = first_actions
        return infoset
