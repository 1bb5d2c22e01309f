"""Locks: policies that are fixed at some infosets, while everything else is solved.

A lock is given in one of these forms:

- a *table*: a mapping from the name of a decision to a distribution, which is a mapping from actions to probabilities
  or a list of probabilities in the order of the game's actions. A decision is named as ``rlccfr show`` names it. On a
  public tree the name is a line of play such as ``"b120"``, and hands may have different distributions:
  ``{"b120": {"QQ+": {"c": 1}, "AKs": {"c": 0.5, "f": 0.5}}}``; hands that are not named are not locked.
- a *function* that takes the name of a decision and returns what a table would have there, or None for no lock there;
- a :class:`rlccfr.Policy`;
- a *file*: a policy file, or a table as JSON. A policy file in CSV or JSON may lack infosets; these are not locked;
- a mapping from a player, 0 or 1, to any of these, which then locks only this player's decisions;
- a list of these, which apply together. If two of them lock the same decision, they must give the same probabilities.

A run solves the *locked game*, in which the lock's policies are part of the rules. So no player can deviate from the
lock, not even by a best response: values, exploitability and targets are those of the locked game. A policy that a run
returns is a policy of the game itself: it has the lock's probabilities at locked infosets, and can be used wherever
other policies can.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rlccfr.errors import PolicyError, RLCCFRError, brief, first_line
from rlccfr.files import read_bytes, refuse_repeated_keys
from rlccfr.game import Game, checked_game
from rlccfr.games.flat_tree import SUM_TOLERANCE

KINDS = "a policy, a table, a function, a file, a mapping from players to these, or a list of these"
"""What a lock may be, for errors."""

TABLE_SUFFIX = ".json"
"""Suffix of files that may contain a table."""


@dataclass(frozen=True, eq=False)
class Lock:
    """Policies that are fixed at some infosets of a game.

    Attributes:
        game: the game, without a lock.
        entries: (k,) the entries of the game's tables that belong to locked infosets, ascending.
        probabilities: (k,) probability of each entry; the probabilities of an infoset sum to 1.
    """

    game: Any
    entries: np.ndarray
    probabilities: np.ndarray

    @property
    def num_infosets(self) -> int:
        """Number of infosets that are locked."""
        count: int = self._reader.count(self)
        return count

    @property
    def _reader(self) -> type[LockReader]:
        reader: type[LockReader] = self.game.form.part("lock")
        return reader

    def same_as(self, other: Lock) -> bool:
        """Return whether both locks fix the same policies in the same game."""
        return (
            self.game is other.game
            and np.array_equal(self.entries, other.entries)
            and np.array_equal(self.probabilities, other.probabilities)
        )

    def locked_game(self) -> Any:
        """Return the locked game."""
        return self._reader.locked_game(self)

    def completed(self, policy: Any) -> Any:
        """Return a policy of the locked game as a policy of the game itself, with the lock's probabilities."""
        return self._reader.completed(self, policy)


class Fixed(NamedTuple):
    """Policies that one part of a lock fixes, such as those at one decision.

    Attributes:
        name: where they are fixed, for errors, such as "at '0b'".
        entries: (k,) indices of entries of the game's tables.
        probabilities: (k,) probability of each.
    """

    name: str
    entries: np.ndarray
    probabilities: np.ndarray


class LockReader(Protocol):
    """What a form of games offers for locks; the attribute ``lock`` of :class:`rlccfr.game.Form` names the class."""

    def __init__(self, game: Any) -> None: ...

    def names(self, player: int) -> Iterator[str]:
        """Yield the names of a player's decisions."""

    def fixed(self, name: str, decision_policy: Any, player: int | None) -> Iterator[Fixed]:
        """Yield what a table fixes at a decision.

        Args:
            name: the decision's name.
            decision_policy: what the table has there: a distribution, or a mapping from hands to distributions.
            player: the player whose decision it must be; None for either.

        Raises:
            PolicyError: there is no such decision, or the table's policy does not fit it.
        """

    def of_policy(self, policy: Any, players: tuple[int, ...]) -> Iterator[Fixed]:
        """Yield what a policy of the game fixes at all decisions of ``players``.

        Raises:
            PolicyError: the policy is for another game.
        """

    def of_file(self, path: Path, players: tuple[int, ...]) -> Iterator[Fixed]:
        """Yield what the policy in a file fixes at those decisions of ``players`` that are in the file.

        Raises:
            CheckpointError: the file is damaged, or its policy is for another game.
        """

    @staticmethod
    def count(lock: Lock) -> int:
        """Return the number of infosets that are locked."""

    @staticmethod
    def locked_game(lock: Lock) -> Any:
        """See :meth:`Lock.locked_game`."""

    @staticmethod
    def completed(lock: Lock, policy: Any) -> Any:
        """See :meth:`Lock.completed`."""


def locked(game: Any, lock: Any) -> Any:
    """Return a game with a lock; it can be used wherever the game without a lock can.

    Args:
        game: a game.
        lock: the lock, in any of the forms in the module's docstring; None for no lock.

    Returns:
        The locked game, whose attribute ``lock`` is a :class:`Lock`; the game itself if ``lock`` is None.

    Raises:
        PolicyError: the lock does not fit the game, fixes nothing, or leaves nothing to be solved; or the game already
            has a lock.
        CheckpointError: a policy file can't be read, is damaged, or is for another game.
        GameError: the game's form does not support locks.
        TypeError: ``game`` is not a game.

    Examples:
        >>> import rlccfr
        >>> from rlccfr.locks import locked
        >>> kuhn = rlccfr.load_game("kuhn")
        >>> game = locked(kuhn, {"0b": [1, 0]})  # player 1 passes with the jack after a bet, as it should
        >>> round(rlccfr.solve(game).value, 4), game.lock.num_infosets
        (-0.0556, 1)
    """
    checked = checked_game(game)
    if lock is None:
        return checked
    if checked.lock is not None:
        raise PolicyError(f"{checked.name!r} already has a lock: give one lock with everything that is to be fixed")
    reader: LockReader = checked.form.part("lock")(checked)
    return _joined(checked, list(_all_fixed(reader, lock))).locked_game()


def _joined(game: Game, parts: list[Fixed]) -> Lock:
    """Return the lock that consists of all parts.

    Raises:
        PolicyError: the parts fix nothing, two of them differ at an infoset, or nothing is left to solve.
    """
    if not any(len(part.entries) for part in parts):
        raise PolicyError(f"the lock fixes nothing in {game.name!r}: name a decision, or leave the lock out")
    entries = np.concatenate([part.entries for part in parts])
    order = np.argsort(entries, kind="stable")
    entries = entries[order]
    probabilities = np.concatenate([part.probabilities for part in parts])[order]
    is_again = np.append(False, np.diff(entries) == 0)  # an earlier part has fixed the entry, too
    differs = np.append(False, np.abs(np.diff(probabilities)) > SUM_TOLERANCE)
    conflicts = np.flatnonzero(is_again & differs)
    if len(conflicts):
        part_of_entry = np.repeat(np.arange(len(parts)), [len(part.entries) for part in parts])
        first, second = (parts[part_of_entry[order[conflicts[0] - step]]].name for step in (1, 0))
        both = first if first == second else f"{first} and {second}"
        raise PolicyError(f"the lock fixes an infoset twice, {both}, with different probabilities: keep one of them")
    entries = entries[~is_again]
    if len(entries) == game.num_sequences:
        raise PolicyError(
            f"the lock fixes all decisions of {game.name!r}, so that nothing is left to solve; to lock only one "
            "player, name it: lock={0: ...}, or --lock 0=FILE"
        )
    return Lock(game, entries, probabilities[~is_again])


def _all_fixed(reader: LockReader, lock: Any, player: int | None = None) -> Iterator[Fixed]:
    """Yield all that a lock fixes; see :func:`locked`.

    Args:
        player: the player to whose decisions the lock is restricted; None for both players.
    """
    players = (0, 1) if player is None else (player,)
    if isinstance(lock, (str, Path)):
        yield from _of_file(reader, Path(lock), player)
    elif isinstance(lock, Mapping):
        yield from _of_mapping(reader, lock, player)
    elif isinstance(lock, (list, tuple)):
        for part in lock:
            yield from _all_fixed(reader, part, player)
    elif hasattr(lock, "seated_with"):  # a policy, of whatever form
        yield from reader.of_policy(lock, players)
    elif callable(lock):
        for each in players:
            for name in reader.names(each):
                decision_policy = lock(name)
                if decision_policy is not None:
                    yield from reader.fixed(name, decision_policy, each)
    else:
        raise PolicyError(f"a lock must be {KINDS}, not {brief(lock)}")


def _of_mapping(reader: LockReader, mapping: Mapping[Any, Any], player: int | None) -> Iterator[Fixed]:
    """Yield what a mapping fixes; the mapping is a table, or maps players to locks."""
    for name, value in mapping.items():
        if isinstance(name, str):
            yield from reader.fixed(name, value, player)
        elif player is None and name in (0, 1) and not isinstance(name, bool):
            yield from _all_fixed(reader, value, int(name))
        else:
            keys = "names of decisions, or the players 0 and 1" if player is None else "names of decisions"
            owner = "a lock" if player is None else f"player {player}'s lock"
            raise PolicyError(f"the keys of {owner} must be {keys}, not {brief(name)}")


def _of_file(reader: LockReader, path: Path, player: int | None) -> Iterator[Fixed]:
    """Yield what a file fixes; names and errors include the file's path, since a lock may have several files."""
    table = _table_in(path) if path.suffix == TABLE_SUFFIX and not path.is_dir() else None
    if table is None or "format" in table:
        parts = reader.of_file(path, (0, 1) if player is None else (player,))
    else:
        parts = _of_table(reader, table, player, path)
    for part in parts:
        yield part._replace(name=f"{part.name} in {path}")


def _of_table(reader: LockReader, table: dict[str, Any], player: int | None, path: Path) -> Iterator[Fixed]:
    """Yield what a file's table fixes.

    Raises:
        PolicyError: the table does not fit the game; the message begins with the file's path.
    """
    try:
        yield from _of_mapping(reader, table, player)
    except RLCCFRError as error:
        raise PolicyError(f"{path}: {error}") from None


def _table_in(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        PolicyError: the file can't be read, is not JSON, or does not contain an object, or the object repeats a key.
    """
    try:
        table = json.loads(read_bytes(path), object_pairs_hook=refuse_repeated_keys)
    except OSError as error:
        reason = error.strerror
        raise PolicyError(f"can't read the lock {path} ({reason}): give a policy file or a JSON table") from None
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"the lock {path} is not a JSON table: {first_line(error)}") from None
    if not isinstance(table, dict):
        raise PolicyError(f"the lock {path} must contain an object that maps names of decisions to distributions")
    return table


def is_number(value: Any) -> bool:
    """Return whether a value is a number; a bool is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def distribution(
    by_action: Any,
    count: int,
    place_of: Callable[[Hashable], int | None],
    action_names: Callable[[], list[str]],
    where: str,
) -> np.ndarray:
    """Return the probabilities, (count,), that a table has for a decision.

    Args:
        by_action: value in the table: a mapping from actions to probabilities, or a list with a probability for each
            action.
        count: number of actions.
        place_of: function that returns the index of an action from its key in a mapping; None if there is no such
            action.
        action_names: function that returns the names of the actions, for errors.
        where: the decision, for errors, such as "at '0b'".

    Raises:
        PolicyError: ``by_action`` is not a distribution over the actions.
    """
    if isinstance(by_action, Mapping):
        # Actions that the mapping does not name have probability 0.
        numbers: list[Any] = [0.0] * count
        is_named = np.zeros(count, bool)
        for action, number in by_action.items():
            place = place_of(action)
            if place is None:
                actions = ", ".join(action_names())
                raise PolicyError(f"{where}, a lock has the action {brief(action)}, but the actions are {actions}")
            if is_named[place]:
                raise PolicyError(f"{where}, a lock has an action twice, the second time as {brief(action)}")
            numbers[place] = number
            is_named[place] = True
    else:
        numbers = _listed(by_action)
        if len(numbers) != count:
            actions = ", ".join(action_names())
            shown = brief(by_action)
            if isinstance(by_action, np.ndarray) and by_action.ndim != 1:
                shown = f"an array of the shape {by_action.shape}"
            elif numbers:
                shown = f"{len(numbers)} {'number' if len(numbers) == 1 else 'numbers'}, {shown}"
            raise PolicyError(f"{where}, a lock must have a probability for each action ({actions}), not {shown}")
    for place, number in enumerate(numbers):
        if not (is_number(number) and 0 <= number <= 1 + SUM_TOLERANCE):
            name = action_names()[place]
            raise PolicyError(
                f"{where}, a lock's probabilities must be numbers from 0 to 1, not {brief(number)} for {name}"
            )
    probabilities = np.array(numbers, float)
    total = float(probabilities.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise PolicyError(f"{where}, a lock's probabilities must sum to 1, not to {total:.6g}")
    # Numbers that were rounded for a file sum to nearly 1; the game's rules need a sum of 1.
    return probabilities / total


def _listed(by_action: Any) -> list[Any]:
    """Return the numbers of a list or of an array with one axis; an empty list for anything else."""
    is_list = isinstance(by_action, (list, tuple)) or (isinstance(by_action, np.ndarray) and by_action.ndim == 1)
    return list(by_action) if is_list else []
