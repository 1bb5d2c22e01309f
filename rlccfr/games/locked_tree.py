"""Locks on compiled games: a locked decision becomes a chance node.

The result is a compiled game, so update rules, samplers, the linear program and best responses run on it unchanged.
Actions to which the lock gives probability 0 are left out, with all histories below them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.errors import PolicyError, brief, nearest
from rlccfr.games.compiler import build
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.histories import Traversal
from rlccfr.games.records import CHANCE
from rlccfr.locks import Fixed, Lock, distribution

MOST_COMPARED = 10_000
"""In a game with more names of infosets than this, no similar name is suggested for an unknown name.

Comparing the unknown name with a hundred others takes a millisecond.
"""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LockedTree(GameTree):
    """A compiled game in which locked decisions are chance nodes with the lock's probabilities.

    Attributes:
        kept: (m,) for each sequence of this game, its index in the game without the lock.
    """

    kept: np.ndarray

    @property
    def kept_infosets(self) -> np.ndarray:
        """For each infoset of this game, its index in the game without the lock, (n,)."""
        unlocked: GameTree = self.lock.game
        kept_infosets: np.ndarray = unlocked.owner[self.kept[self.view.first_sequence[:-1]]]
        return kept_infosets

    @cached_property
    def content_hash(self) -> str:
        """Hash of the game without the lock, and of the lock."""
        digest = hashlib.sha256(self.lock.game.content_hash.encode())
        for array in (self.lock.entries, self.lock.probabilities):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


class TreeLocks:
    """Reader of locks on a compiled game; see :class:`rlccfr.locks.LockReader`.

    Args:
        tree: the game.
    """

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree

    @cached_property
    def _infosets(self) -> dict[str, list[int]]:
        """The infosets with each name; where recall was restored, several may share a name."""
        infosets: dict[str, list[int]] = {}
        for infoset, key in enumerate(self._tree.infoset_keys):
            infosets.setdefault(key, []).append(infoset)
        return infosets

    @cached_property
    def _action_names(self) -> list[str]:
        """Name of each sequence's action; finding the names takes a while in a large game."""
        from rlccfr.games.openspiel_policies import sequence_names

        return sequence_names(self._tree)

    def names(self, player: int) -> Iterator[str]:
        infosets = self._tree.infosets_of(player)
        yield from dict.fromkeys(self._tree.infoset_keys[infosets])

    def fixed(self, name: str, decision_policy: Any, player: int | None) -> Iterator[Fixed]:
        infosets = self._infosets.get(name, [])
        owners = {self._owner(infoset) for infoset in infosets}
        if player is not None:
            infosets = [infoset for infoset in infosets if self._owner(infoset) == player]
        elif len(owners) > 1:
            raise PolicyError(
                f"both players of {self._tree.name!r} have an infoset named {brief(name)}: name the player to lock, as "
                "in lock={0: ...} or --lock 0=FILE"
            )
        if not infosets:
            raise self._unknown(name, player, bool(owners))
        # Where recall was restored, several infosets may share the name, and all of them are locked.
        for infoset in infosets:
            sequences = self._tree.infoset_sequences(infoset)
            where = f"at {brief(name)}"
            probabilities = self._distribution(decision_policy, sequences, where)
            yield Fixed(where, np.arange(sequences.start, sequences.stop), probabilities)

    def _owner(self, infoset: int) -> int:
        return int(infoset >= self._tree.view.infoset_begin[1])

    def _unknown(self, name: str, player: int | None, is_other_players: bool) -> PolicyError:
        """Return the error for a name that no infoset has, or no infoset of the given player."""
        whose = "" if player is None else f" of player {player}"
        near = nearest(name, self._infosets) if len(self._infosets) <= MOST_COMPARED else None
        if is_other_players:
            hint = "it is the other player's"
        elif near is not None:
            hint = f"did you mean {brief(near)}?"
        else:
            hint = f"`rlccfr show` lists the names of a saved policy, such as {brief(next(iter(self._infosets)))}"
        return PolicyError(f"{self._tree.name!r} has no infoset{whose} named {brief(name)}; {hint}")

    def _distribution(self, by_action: Any, sequences: slice, where: str) -> np.ndarray:
        actions = self._tree.sequence_action[sequences].tolist()

        def place_of(action: Hashable) -> int | None:
            """Return the index of an action given by its OpenSpiel number (int or digits) or its name.

            None if the infoset has no such action.
            """
            # A name goes before a number, since names may consist of digits.
            if isinstance(action, str):
                names = self._action_names[sequences]
                if action in names:
                    return names.index(action)
                action = int(action) if action.isdecimal() else None
            # True and False would pass for the numbers 1 and 0.
            return actions.index(action) if action in actions and not isinstance(action, bool) else None

        return distribution(by_action, len(actions), place_of, lambda: self._action_names[sequences], where)

    def of_policy(self, policy: Any, players: tuple[int, ...]) -> Iterator[Fixed]:
        tree = self._tree
        if policy.game.content_hash != tree.content_hash:
            raise PolicyError(
                f"the lock is a policy of {policy.game.name!r}; it must be a policy of this version of {tree.name!r}"
            )
        probabilities = policy.probabilities
        sums = np.repeat(tree.row_sums(probabilities), np.diff(tree.view.first_sequence))
        for player in players:
            entries = tree.sequences_of(player)
            numbers = np.arange(entries.start, entries.stop)
            yield Fixed(f"by a policy of player {player}", numbers, probabilities[entries] / sums[entries])

    def of_file(self, path: Path, players: tuple[int, ...]) -> Iterator[Fixed]:
        from rlccfr.policies.policy_file import part_of_policy
        from rlccfr.policy import Policy

        policy = part_of_policy(path, Policy, self._tree)
        if not isinstance(policy, dict):
            yield from self.of_policy(policy, players)
            return
        for (player, name), by_action in policy.items():
            if player in players:
                yield from self.fixed(name, by_action, player)

    @staticmethod
    def count(lock: Lock) -> int:
        return len(np.unique(lock.game.owner[lock.entries]))

    @staticmethod
    def locked_game(lock: Lock) -> LockedTree:
        return _locked(lock)

    @staticmethod
    def completed(lock: Lock, policy: Any) -> Any:
        """See :meth:`Lock.completed`; the policy is uniform after actions that the lock never takes."""
        probabilities = lock.game.uniform_policy()
        probabilities[policy.game.kept] = policy.probabilities
        probabilities[lock.entries] = lock.probabilities
        return type(policy)(lock.game, probabilities)


def _locked(lock: Lock) -> LockedTree:
    """Compile a game again with the locked decisions as chance nodes.

    Raises:
        PolicyError: no free decision is left.
    """
    tree: GameTree = lock.game
    walk, infosets = _traversal(lock)
    if not len(infosets):
        raise PolicyError(
            f"no free decision of {tree.name!r} is ever reached under the lock: nothing is left to solve; lock fewer "
            "decisions"
        )
    built = build(
        walk,
        name=tree.name,
        openspiel_name=tree.openspiel_name,
        restore_recall=tree.restore_recall,
        opponent_payoffs=tree.opponent_payoffs,
        big_blind=tree.big_blind,
    )
    arrays = {field.name: getattr(built, field.name) for field in fields(GameTree)}
    # The game's infosets are already in the compiler's order, so the remaining ones keep their order.
    return LockedTree(**arrays | {"lock": lock}, kept=np.flatnonzero(np.isin(tree.owner, infosets)))


def _traversal(lock: Lock) -> tuple[Traversal, np.ndarray]:
    """Return the histories that can still be reached under the lock, and their free infosets, ascending."""
    tree: GameTree = lock.game
    histories = tree.histories
    is_locked = np.zeros(tree.num_infosets + 1, bool)  # the last entry is for -1, no infoset
    is_locked[tree.owner[lock.entries]] = True
    probability_of_sequence = np.full(tree.num_sequences, np.nan)
    probability_of_sequence[lock.entries] = lock.probabilities
    # Level by level: the probability of the move that leads to a history, and whether the history can be reached.
    parent = np.full(tree.num_histories, -1)
    probability = tree.probability.copy()
    depth = np.zeros(tree.num_histories, np.int32)
    is_left = np.ones(tree.num_histories, bool)
    levels = [np.zeros(1, np.int64)]
    for level, above, place in tree.levels():
        parent[level] = above
        depth[level] = len(levels)
        after_lock = is_locked[histories["infoset"][above]]
        sequences = histories["first_sequence"][above][after_lock] + place[after_lock]
        probability[level[after_lock]] = probability_of_sequence[sequences]
        is_left[level] = is_left[above] & (probability[level] > 0)
        levels.append(level)
    left = np.concatenate(levels)
    left = left[is_left[left]]

    number = np.full(tree.num_histories + 1, -1)  # the last entry is for -1, no history
    number[left] = np.arange(len(left))
    becomes_chance = is_locked[histories["infoset"]]
    infoset = np.where(becomes_chance, -1, histories["infoset"])[left]
    infosets = np.unique(infoset[infoset >= 0])
    walk = Traversal(
        parent=number[parent[left]],
        depth=depth[left],
        action=tree.edge_action[left],
        actor=np.where(becomes_chance, CHANCE, histories["actor"])[left],
        infoset=np.where(infoset >= 0, np.searchsorted(infosets, infoset), -1),
        probability=probability[left],
        utility=tree.utility[left],
        opponent_utility=-tree.utility[left],
        infoset_player=(infosets >= tree.view.infoset_begin[1]).astype(np.int8),
        infoset_level=_own_moves_before(tree)[infosets],
        infoset_keys=[tree.infoset_keys[each] for each in infosets.tolist()],
    )
    return walk, infosets


def _own_moves_before(tree: GameTree) -> np.ndarray:
    """Return, for each infoset, the number of moves that its player has made before, (n,)."""
    owner = np.append(tree.owner, [tree.num_infosets] * 2)
    infoset_before = owner[tree.view.parent]
    moves = np.zeros(tree.num_infosets + 1, np.int32)
    moves[-1] = -1
    for infoset, before in enumerate(infoset_before.tolist()):  # parents come first
        moves[infoset] = moves[before] + 1
    return moves[:-1]
