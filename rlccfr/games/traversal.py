"""The traversal of all histories of an OpenSpiel game, from which the game is compiled."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from rlccfr.games.compiler import Traversal
from rlccfr.games.flat_tree import CHANCE, TERMINAL
from rlccfr.games.size import check_memory, check_size, too_many_histories

REPORT_EVERY = 20_000
"""Number of histories between two checks of free memory and two calls of ``progress``: about a sixth of a second."""

Last = tuple[int, ...]
"""A player's last (infoset, action index), or () if the player has not moved."""


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
    """The histories visited so far, with one column per property."""

    def __init__(self) -> None:
        self.parent, self.depth, self.action, self.actor = array("i"), array("i"), array("q"), array("b")
        self.infoset, self.probability, self.utility = array("i"), array("d"), array("d")

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, pending: _Pending, actor: int, infoset: int, utility: float) -> None:
        self.parent.append(pending.parent)
        self.depth.append(pending.depth)
        self.action.append(pending.action)
        self.actor.append(actor)
        self.infoset.append(infoset)
        self.probability.append(pending.probability)
        self.utility.append(utility)


def traverse(
    game: Any, name: str, restore_recall: bool, max_histories: int, progress: Callable[[float], None] | None
) -> tuple[Traversal, int]:
    """Visit every history, depth first.

    Returns:
        The traversal, and the number of infosets without perfect recall.

    Raises:
        GameError: there are more histories than ``max_histories``, or than there is memory to compile.
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
        if actor >= 0:
            infoset = seen.number(actor, state.information_state_string(actor), pending.last[actor])
            columns.add(pending, actor, infoset, 0.0)
            stack.extend(_decisions(state, here, pending, actor, infoset))
        elif actor == int(pyspiel.PlayerId.TERMINAL):
            columns.add(pending, TERMINAL, -1, state.player_return(0))
            done += pending.share
        else:
            columns.add(pending, CHANCE, -1, 0.0)
            stack.extend(_outcomes(state, here, pending))
    check_memory(name, len(columns))
    return _finished(columns, seen), len(seen.forgetful)


def _decisions(state: Any, here: int, pending: _Pending, actor: int, infoset: int) -> list[_Pending]:
    """Return the histories below a player's decision, the last action first, so that a stack pops the first one."""
    moves, below = state.legal_actions(), []
    for index in range(len(moves) - 1, -1, -1):
        first, second = pending.last
        last = ((infoset, index), second) if actor == 0 else (first, (infoset, index))
        below.append(_Pending(state, here, moves[index], 1.0, pending.depth + 1, pending.share / len(moves), last))
    return below


def _outcomes(state: Any, here: int, pending: _Pending) -> list[_Pending]:
    """Return the histories below a chance node, the last outcome first, without outcomes of probability 0."""
    outcomes = [(action, probability) for action, probability in state.chance_outcomes() if probability > 0]
    depth, share = pending.depth + 1, pending.share / len(outcomes)
    return [_Pending(state, here, action, p, depth, share, pending.last) for action, p in reversed(outcomes)]


def _finished(columns: _Columns, seen: _SeenInfosets) -> Traversal:
    arrays = {name: np.array(column) for name, column in vars(columns).items()}
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
        self.owners, self.levels = array("b"), array("i")
        self.keys: list[str] = []
        self.forgetful: set[int] = set()

    def number(self, player: int, text: str, last: Last) -> int:
        """Return the number of the infoset with information state ``text``; ``last`` is its owner's last move."""
        key = (player, text, last) if self._restore_recall else (player, text)
        infoset = self._ids.setdefault(key, len(self._ids))
        if infoset == len(self.keys):
            self.owners.append(player)
            self.levels.append(self.levels[last[0]] + 1 if last else 0)
            self.keys.append(text)
            self._last.append(last)
        elif self._last[infoset] != last:
            self.forgetful.add(infoset)
        return infoset
