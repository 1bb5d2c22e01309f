"""The traversal of all histories of a game, from which the game is compiled."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rlccfr.errors import GameError
from rlccfr.games.claims import after, broken_at, check_claims, no_moves
from rlccfr.games.flat_tree import CHANCE, TERMINAL
from rlccfr.games.histories import Traversal, actions_to
from rlccfr.games.playable import BOTH_MOVE, CHANCE_MOVES, GAME_ENDS, Playable, State
from rlccfr.games.size import check_memory, check_size, too_many_histories

REPORT_EVERY = 20_000
"""Number of histories between two checks of free memory and two calls of ``progress``: about a sixth of a second."""

Last = tuple[int, ...]
"""A player's last (infoset, action), or () if the player has not moved."""


class _Pending(NamedTuple):
    """A history that is still to be visited. Its state is made only at the visit, since some states take megabytes."""

    above: Any  # the state above; None at the root
    parent: int  # number of the history above
    action: int  # the action that leads here
    probability: float  # probability of a chance outcome, else 1
    depth: int
    share: float  # share of all work, as if siblings were of equal size
    last: tuple[Last, Last]  # one per player


class _Columns:
    """The histories visited so far, depth first, with one column per property."""

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

    def add(self, pending: _Pending, actor: int, infoset: int, utility: float, opponent_utility: float) -> None:
        self.parent.append(pending.parent)
        self.depth.append(pending.depth)
        self.action.append(pending.action)
        self.actor.append(actor)
        self.infoset.append(infoset)
        self.probability.append(pending.probability)
        self.utility.append(utility)
        self.opponent_utility.append(opponent_utility)


def traverse(
    game: Playable,
    name: str,
    restore_recall: bool,
    max_histories: int,
    progress: Callable[[float], None] | None,
    utility_sum: float = 0.0,
) -> tuple[Traversal, int]:
    """Visit every history, depth first, and check what the game claims; see :mod:`rlccfr.games.claims`.

    Args:
        game: the game.
        name: the game's name, for errors.
        restore_recall: whether to tell histories of one information state apart by the player's own last move.
        max_histories: largest number of histories.
        progress: function that is called now and then with the share done.
        utility_sum: what the players' utilities must sum to.

    Returns:
        The traversal, and the number of infosets without perfect recall.

    Raises:
        GameError: a claim is broken, or there are more histories than ``max_histories``, or than there is memory to
            compile.
    """
    columns, seen, done = _Columns(), _SeenInfosets(restore_recall), 0.0
    stack = [_Pending(None, -1, -1, 1.0, 0, 1.0, ((), ()))]
    while stack:
        pending, here = stack.pop(), len(columns)
        if here >= max_histories:
            raise too_many_histories(name, max_histories)
        if here == REPORT_EVERY:  # smaller games are compiled sooner than their size is estimated
            check_size(game, name, max_histories)
        if here % REPORT_EVERY == 0:
            check_memory(name, here)
            if progress:
                progress(done)
        state = game.new_initial_state() if pending.above is None else pending.above.child(pending.action)
        actor = int(state.current_player())  # games in Python may return an enum, which has no order
        if actor in (0, 1):
            text, actions = state.information_state_string(actor), state.legal_actions()
            infoset, actions = seen.number(actor, text, pending.last[actor], actions)
            columns.add(pending, actor, infoset, 0.0, 0.0)
            below = _decisions(state, here, pending, actor, infoset, actions)
        elif actor == GAME_ENDS:
            returns = state.returns()
            if len(returns) != 2:
                raise _broken(
                    name, columns, pending, f"there are {len(returns)} returns; two players must get one each"
                )
            columns.add(pending, TERMINAL, -1, *returns)
            done += pending.share
            continue
        elif actor == CHANCE_MOVES:
            actor = CHANCE
            columns.add(pending, CHANCE, -1, 0.0, 0.0)
            below = _outcomes(state, here, pending)
        else:
            raise _broken(name, columns, pending, _nobody(actor))
        if not below:
            raise _broken(name, columns, pending, no_moves(actor))
        stack.extend(below)
    check_memory(name, len(columns))
    walk = _breadth_first(columns, seen)
    check_claims(walk, name, utility_sum)
    return walk, len(seen.forgetful)


def _broken(name: str, columns: _Columns, pending: _Pending, fault: str) -> GameError:
    """Return the error for a fault at the history that is being visited."""
    above = actions_to(pending.parent, columns.parent, columns.action)
    return broken_at(name, after([*above, pending.action] if pending.parent >= 0 else []), fault)


def _nobody(actor: int) -> str:
    """Return what is wrong with a player to move who is none."""
    if actor == BOTH_MOVE:
        return "both players move at once, which the game's type does not declare; they must move in turn"
    return f"the player to move is {actor}; it must be 0, 1, {CHANCE_MOVES} for chance or {GAME_ENDS} at the end"


def _decisions(
    state: State, here: int, pending: _Pending, actor: int, infoset: int, actions: list[int]
) -> list[_Pending]:
    """Return the histories below a player's decision, the last action first, so that a stack pops the first one."""
    below = []
    for action in reversed(actions):
        first, second = pending.last
        last = ((infoset, action), second) if actor == 0 else (first, (infoset, action))
        below.append(_Pending(state, here, action, 1.0, pending.depth + 1, pending.share / len(actions), last))
    return below


def _outcomes(state: State, here: int, pending: _Pending) -> list[_Pending]:
    """Return the histories below a chance node, the last outcome first, without outcomes of probability 0.

    Other numbers that are no probabilities stay in, for the check that follows.
    """
    outcomes = [(action, probability) for action, probability in state.chance_outcomes() if probability != 0]
    depth, share = pending.depth + 1, pending.share / max(len(outcomes), 1)
    return [_Pending(state, here, action, p, depth, share, pending.last) for action, p in reversed(outcomes)]


def _breadth_first(columns: _Columns, seen: _SeenInfosets) -> Traversal:
    """Return the histories level by level: those of a level are in the order in which they were visited."""
    arrays = {name: np.array(column) for name, column in vars(columns).items()}
    order = np.argsort(arrays["depth"], kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    arrays = {name: column[order] for name, column in arrays.items()}
    arrays["parent"] = np.where(arrays["parent"] >= 0, rank[arrays["parent"]], -1)
    return Traversal(
        **arrays,
        infoset_player=np.array(seen.owners),
        infoset_level=np.array(seen.levels),
        infoset_keys=seen.keys,
    )


class _SeenInfosets:
    """Numbering of infosets in order of discovery, which also finds those without perfect recall."""

    def __init__(self, restore_recall: bool) -> None:
        self._restore_recall = restore_recall
        self._ids: dict[Any, int] = {}
        self._last: list[Last] = []
        self._actions: list[list[int]] = []
        self.owners = array("b")
        self.levels = array("i")
        self.keys: list[str] = []
        self.forgetful: set[int] = set()

    def number(self, player: int, text: str, last: Last, actions: list[int]) -> tuple[int, list[int]]:
        """Return the number of the infoset with information state ``text``, and its actions in their order.

        Histories of one infoset may list the same actions in different orders. All get the order of the first one, so
        that an action has the same place at each of them. Other actions are returned as they are.

        Args:
            player: the infoset's owner.
            text: the information state.
            last: its owner's last move.
            actions: the actions that the history offers.
        """
        key = (player, text, last) if self._restore_recall else (player, text)
        infoset = self._ids.setdefault(key, len(self._ids))
        if infoset == len(self.keys):
            self.owners.append(player)
            self.levels.append(self.levels[last[0]] + 1 if last else 0)
            self.keys.append(text)
            self._last.append(last)
            self._actions.append(actions)
            return infoset, actions
        if self._last[infoset] != last:
            self.forgetful.add(infoset)
        first = self._actions[infoset]
        return infoset, first if actions != first and sorted(actions) == sorted(first) else actions
