"""The one door to OpenSpiel: loading games, and policies in its form."""

from __future__ import annotations

import difflib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from rlccfr.errors import GameError, PolicyError, RLCCFRError, brief, first_line
from rlccfr.games.cache import find_game, keep_game
from rlccfr.games.check import is_played_as, registered_code
from rlccfr.games.compiler import Traversal, build
from rlccfr.games.flat_tree import CHANCE, TERMINAL, GameTree

MAX_HISTORIES = 2_000_000
"""Default size limit: under 1 GB and about 15 seconds to compile."""

REPORT_EVERY = 20_000
"""Histories between two calls of ``progress``: a sixth of a second."""


def compile_game(
    openspiel_name: str,
    *,
    name: str | None = None,
    restore_recall: bool = False,
    max_histories: int = MAX_HISTORIES,
    known_names: Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
) -> GameTree:
    """Compile an OpenSpiel game string; see :func:`rlccfr.load_game`."""
    if not isinstance(openspiel_name, str):
        raise GameError(f"a game is a name or an OpenSpiel string, not {openspiel_name!r}")
    game = _open(openspiel_name, known_names)
    name = name or openspiel_name
    shipped = _registered_code(game, openspiel_name) is None
    if shipped and (kept := find_game(openspiel_name, restore_recall)) is not None:
        with _quiet():
            current = is_played_as(kept, game)
        if current and kept.num_histories <= max_histories:
            return replace(kept, name=name, openspiel_name=openspiel_name)
    try:
        with _quiet() as aloud:
            report = _reporter(progress, aloud) if progress else None
            walk, forgetful = _traverse(game, openspiel_name, restore_recall, max_histories, report)
    except _ProgressError as error:
        raise error.__cause__ or error from None
    except (RLCCFRError, MemoryError):
        raise
    except Exception as error:  # a SpielError, or what its C++ library or a game in Python raises
        raise GameError(f"OpenSpiel can't play {openspiel_name!r}: {first_line(error)}") from None
    if forgetful:
        raise GameError(
            f"{openspiel_name!r} has imperfect recall: in {forgetful:,} of its {len(walk.infoset_keys):,} infosets a "
            "player has forgotten an earlier move or observation, and CFR's guarantees do not hold; "
            "load it with restore_recall=True to tell such histories apart by the player's own last move"
        )
    tree = build(walk, name=name, openspiel_name=openspiel_name, restore_recall=restore_recall)
    if shipped:
        keep_game(tree)
    return tree


def registered_here(openspiel_name: str) -> tuple[type, ...] | None:
    """Return the classes of a game that are not OpenSpiel's, None for a game that OpenSpiel ships.

    Raises:
        GameError: as :func:`compile_game`.
    """
    return _registered_code(_open(openspiel_name, ()), openspiel_name)


def _registered_code(game: Any, openspiel_name: str) -> tuple[type, ...] | None:
    with _quiet():
        return registered_code(game, openspiel_name, pyspiel.registered_names(), pyspiel.load_game)


def _open(openspiel_name: str, known_names: Iterable[str]) -> Any:
    """The turn-based OpenSpiel game, refused unless CFR's guarantees can hold for it."""
    short_name = openspiel_name.split("(")[0].strip()
    registered = pyspiel.registered_names()
    if short_name not in registered:
        near = difflib.get_close_matches(short_name, [*known_names, *registered], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`rlccfr games` lists the names"
        raise GameError(f"unknown game {brief(openspiel_name)}; {hint}")
    try:
        with _quiet():
            game = pyspiel.load_game(openspiel_name)
    except Exception as error:  # games of OpenSpiel's in Python raise what they please
        raise GameError(f"OpenSpiel can't load {brief(openspiel_name)}: {first_line(error)}") from None
    kind = game.get_type()
    if game.num_players() != 2:
        raise GameError(f"{openspiel_name!r} has {game.num_players()} players; only two-player games are solved")
    if kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise GameError(
            f"{openspiel_name!r} is {kind.utility.name.lower()}, not zero-sum; only zero-sum games are solved"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{openspiel_name!r} hides its chance probabilities; an exact tree can't be built from it")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    if not game.get_type().provides_information_state_string:
        raise GameError(f"{openspiel_name!r} offers no information states, so its infosets are unknown")
    return game


class _ProgressError(Exception):
    """Its cause was raised by the caller's own function, not by OpenSpiel."""


def _reporter(progress: Callable[[float], None], aloud: Callable[[], AbstractContextManager[None]]) -> Any:
    """The caller's function, with its stderr and its errors as they are."""

    def report(share: float) -> None:
        with aloud():
            try:
                progress(share)
            except Exception as error:
                raise _ProgressError from error

    return report


@contextmanager
def _quiet() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """OpenSpiel writes what it raises to stderr as well, from C++; once is enough. Yields a way to be heard inside."""
    try:
        saved = os.dup(2)
    except OSError:  # stderr is closed, so there is nothing to hide
        yield nullcontext
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)

    @contextmanager
    def aloud() -> Iterator[None]:
        os.dup2(saved, 2)
        try:
            yield
        finally:
            os.dup2(nowhere, 2)

    os.dup2(nowhere, 2)
    try:
        yield aloud
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def solvable_names() -> dict[str, str]:
    """OpenSpiel's games that may be two-player and zero-sum with known chances: short name to long name.

    Some need parameters, and some are larger than any size limit.
    """
    kinds = [kind for kind in pyspiel.registered_games() if kind.default_loadable]
    return {
        kind.short_name: kind.long_name
        for kind in kinds
        if kind.min_num_players <= 2 <= kind.max_num_players
        and kind.utility == pyspiel.GameType.Utility.ZERO_SUM
        and kind.chance_mode != pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        and (kind.provides_information_state_string or kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS)
    }


def _traverse(
    game: Any, name: str, restore_recall: bool, max_histories: int, progress: Callable[[float], None] | None
) -> tuple[Traversal, int]:
    """Visit every history, depth first; also count the infosets whose owner forgets."""
    parents, depths, actions, actors = array("i"), array("i"), array("q"), array("b")
    infosets, probabilities, utilities = array("i"), array("d"), array("d")
    seen = _SeenInfosets(restore_recall)
    # An entry: the state above, its number, the action from it, the action's chance probability, the depth, and
    # its share of all work if siblings were alike, each player's last (infoset, action index). A state is made when
    # its turn comes, since some are megabytes.
    stack: list[tuple[Any, ...]] = [(None, -1, -1, 1.0, 0, 1.0, (), ())]
    done = 0.0
    while stack:
        above, parent, action, probability, depth, share, *last = stack.pop()
        state = game.new_initial_state() if above is None else above.child(action)
        here = len(parents)
        if here >= max_histories:
            raise GameError(
                f"{name!r} has more than {max_histories:,} histories, the size limit; "
                "load_game and `rlccfr solve` take a larger one (max_histories, --max-histories)"
            )
        if progress and here % REPORT_EVERY == 0:
            progress(done)
        actor = state.current_player()
        terminal = actor == pyspiel.PlayerId.TERMINAL
        infoset = seen.number(actor, state.information_state_string(actor), last[actor]) if actor >= 0 else -1
        parents.append(parent)
        depths.append(depth)
        actions.append(action)
        actors.append(actor if actor >= 0 else TERMINAL if terminal else CHANCE)
        infosets.append(infoset)
        probabilities.append(probability)
        utilities.append(state.player_return(0) if terminal else 0.0)
        if actor >= 0:
            moves = state.legal_actions()
            for index, move in reversed([*enumerate(moves)]):
                after = [(infoset, index) if player == actor else last[player] for player in (0, 1)]
                stack.append((state, here, move, 1.0, depth + 1, share / len(moves), *after))
        elif not terminal:
            outcomes = [(a, p) for a, p in state.chance_outcomes() if p > 0]
            stack.extend((state, here, a, p, depth + 1, share / len(outcomes), *last) for a, p in reversed(outcomes))
        else:
            done += share
    walk = Traversal(
        parent=np.array(parents),
        depth=np.array(depths),
        action=np.array(actions),
        actor=np.array(actors),
        infoset=np.array(infosets),
        probability=np.array(probabilities),
        utility=np.array(utilities),
        infoset_player=np.array(seen.owners),
        infoset_level=np.array(seen.levels),
        infoset_keys=seen.keys,
    )
    return walk, len(seen.forgetful)


class _SeenInfosets:
    """Numbers infosets in order of discovery, and notices owners who forget their own last move."""

    def __init__(self, restore_recall: bool) -> None:
        self._restore_recall = restore_recall
        self._ids: dict[Any, int] = {}
        self._last: list[tuple[int, ...]] = []
        self.owners, self.levels = array("b"), array("i")
        self.keys: list[str] = []
        self.forgetful: set[int] = set()

    def number(self, player: int, text: str, last: tuple[int, ...]) -> int:
        """Args: OpenSpiel's information state, and the player's last (infoset, action index), () if none."""
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


def openspiel_game(tree: GameTree) -> Any:
    """The turn-based OpenSpiel game that ``tree`` was compiled from."""
    return _open(tree.openspiel_name, ())


def edge_names(tree: GameTree) -> list[str]:
    """What OpenSpiel calls the action that leads to each history; the root's is empty."""
    names = [""] * tree.num_histories
    for number, state in _states(tree):
        for child in _children(tree, number):
            names[child] = state.action_to_string(state.current_player(), int(tree.edge_action[child]))
    return names


def sequence_names(tree: GameTree) -> list[str]:
    """Return what OpenSpiel calls the action of each sequence, asked at one history of each infoset."""
    names = [""] * tree.num_sequences
    decides = np.flatnonzero(tree.histories["actor"] < CHANCE)
    first = decides[np.unique(tree.histories["infoset"][decides], return_index=True)[1]]
    asked = set(first.tolist())
    for number, state in _states(tree, _with_ancestors(tree, first)):
        if number in asked:
            sequences = tree.infoset_sequences(int(tree.histories["infoset"][number]))
            player = int(tree.histories["actor"][number])
            names[sequences] = [state.action_to_string(player, int(a)) for a in tree.sequence_action[sequences]]
    return names


def _with_ancestors(tree: GameTree, numbers: np.ndarray) -> np.ndarray:
    """Return which histories are among some, or above one of them; bool."""
    counts = tree.histories["num_children"].astype(np.int64)
    parent = np.full(tree.num_histories, -1)
    inner = np.flatnonzero(counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts[inner]) - counts[inner], counts[inner])
    parent[np.repeat(tree.histories["first_child"][inner], counts[inner]) + offsets] = np.repeat(inner, counts[inner])
    found = np.zeros(tree.num_histories, np.bool_)
    while len(numbers):
        found[numbers] = True
        above = np.unique(parent[numbers])
        numbers = above[(above >= 0) & ~found[above]]
    return found


def from_openspiel(tree: GameTree, policy: openspiel_policy.Policy) -> np.ndarray:
    """Probabilities over sequences, shape (m,), of an OpenSpiel policy, asked at one history of each infoset.

    Raises:
        PolicyError: it does not know a state.
    """
    probabilities, known = np.zeros(tree.num_sequences), np.zeros(tree.num_infosets, np.bool_)
    for number, state in _states(tree):
        record = tree.histories[number]
        if record["actor"] >= CHANCE or known[infoset := int(record["infoset"])]:
            continue
        known[infoset] = True
        sequences = tree.infoset_sequences(infoset)
        try:
            given = policy.action_probabilities(state, int(record["actor"]))
        except Exception as error:  # what others' policies raise has no common base
            raise PolicyError(f"the policy has no probabilities for {tree.infoset_keys[infoset]!r}") from error
        probabilities[sequences] = [given.get(int(action), 0.0) for action in tree.sequence_action[sequences]]
    return probabilities


def _states(tree: GameTree, wanted: np.ndarray | None = None) -> Iterator[tuple[int, Any]]:
    """Yield each history that goes on, by its number, with OpenSpiel's state.

    Args:
        wanted: which histories, bool; with one those above it. By default all.
    """
    above = [(0, openspiel_game(tree).new_initial_state())]
    while above:
        number, state = above.pop()
        yield number, state
        for child in _children(tree, number):
            if tree.histories["num_children"][child] and (wanted is None or wanted[child]):
                above.append((child, state.child(int(tree.edge_action[child]))))


def _children(tree: GameTree, number: int) -> range:
    first = int(tree.histories["first_child"][number])
    return range(first, first + int(tree.histories["num_children"][number]))


def to_openspiel(tree: GameTree, probabilities: np.ndarray) -> openspiel_policy.Policy:
    """A policy over sequences, shape (m,), as OpenSpiel's.

    A ``TabularPolicy`` where OpenSpiel's information states tell all infosets apart, else a ``Policy`` that
    finds the infoset by the history, because there two infosets share one information state.
    """
    game = openspiel_game(tree)
    if tree.restore_recall:
        return _HistoryPolicy(game, tree, probabilities)
    tabular = openspiel_policy.TabularPolicy(game)
    for infoset, key in enumerate(tree.infoset_keys):
        sequences = tree.infoset_sequences(infoset)
        row = tabular.policy_for_key(key)
        row[:] = 0.0
        row[tree.sequence_action[sequences]] = probabilities[sequences]
    return tabular


class _HistoryPolicy(openspiel_policy.Policy):  # type: ignore[misc]
    """Probabilities looked up by following a state's actions through the compiled tree."""

    def __init__(self, game: Any, tree: GameTree, probabilities: np.ndarray):
        super().__init__(game, list(range(game.num_players())))
        self._tree = tree
        self._probabilities = probabilities

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        history = 0
        for action in state.history():
            (history,) = (child for child in _children(self._tree, history) if self._tree.edge_action[child] == action)
        sequences = self._tree.infoset_sequences(int(self._tree.histories["infoset"][history]))
        return {
            int(action): float(probability)
            for action, probability in zip(
                self._tree.sequence_action[sequences], self._probabilities[sequences], strict=True
            )
        }
