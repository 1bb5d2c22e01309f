"""The one door to OpenSpiel: loading games, and policies in its form."""

from __future__ import annotations

import difflib
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

from rlccfr.compiler import Traversal, build
from rlccfr.errors import GameError
from rlccfr.game_tree import CHANCE, TERMINAL, GameTree

MAX_HISTORIES = 2_000_000
"""Default size limit: about 1 GB and 10 seconds to compile."""


def compile_game(
    openspiel_name: str,
    *,
    name: str | None = None,
    restore_recall: bool = False,
    max_histories: int = MAX_HISTORIES,
    known_names: Iterable[str] = (),
) -> GameTree:
    """Compile an OpenSpiel game string; see :func:`rlccfr.load_game` for the errors."""
    walk, forgetful = _traverse(_open(openspiel_name, known_names), openspiel_name, restore_recall, max_histories)
    if forgetful:
        raise GameError(
            f"{openspiel_name!r} has imperfect recall: in {forgetful:,} of its {len(walk.infoset_keys):,} infosets a "
            "player has forgotten an earlier move or observation, and CFR's guarantees do not hold; "
            "load it with restore_recall=True to tell such histories apart by the player's own last move"
        )
    return build(walk, name=name or openspiel_name, openspiel_name=openspiel_name, restore_recall=restore_recall)


def _open(openspiel_name: str, known_names: Iterable[str]) -> Any:
    """The turn-based OpenSpiel game, refused unless CFR's guarantees can hold for it."""
    short_name = openspiel_name.split("(")[0].strip()
    registered = pyspiel.registered_names()
    if short_name not in registered:
        near = difflib.get_close_matches(short_name, [*known_names, *registered], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`rlccfr games` lists the names"
        raise GameError(f"unknown game {openspiel_name!r}; {hint}")
    try:
        game = pyspiel.load_game(openspiel_name)
    except (pyspiel.SpielError, RuntimeError) as error:
        raise GameError(f"OpenSpiel can't load {openspiel_name!r}: {_first_line(error)}") from None
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


def _traverse(game: Any, name: str, restore_recall: bool, max_histories: int) -> tuple[Traversal, int]:
    """Visit every history; also count the infosets whose owner forgets."""
    parents, depths, actions = array("i"), array("i"), array("q")
    actors, infosets = array("b"), array("i")
    probabilities, utilities = array("d"), array("d")
    ids: dict[Any, int] = {}
    owners, levels = array("b"), array("i")
    keys: list[str] = []
    own_last: list[tuple[int, ...]] = []
    forgetful: set[int] = set()
    # An entry: the state above, its number, the action from it, the action's chance probability, the depth, and
    # each player's last (infoset, action index). A state is made when its turn comes, since some are megabytes.
    stack: list[tuple[Any, ...]] = [(None, -1, -1, 1.0, 0, (), ())]
    while stack:
        above, parent, action, probability, depth, *last = stack.pop()
        state = game.new_initial_state() if above is None else above.child(action)
        here = len(parents)
        if here >= max_histories:
            raise GameError(
                f"{name!r} has more than {max_histories:,} histories, the size limit; "
                "pass a larger max_histories to load it all the same"
            )
        parents.append(parent)
        depths.append(depth)
        actions.append(action)
        probabilities.append(probability)
        actor = state.current_player()
        utilities.append(state.player_return(0) if actor == pyspiel.PlayerId.TERMINAL else 0.0)
        if actor < 0:
            actors.append(TERMINAL if actor == pyspiel.PlayerId.TERMINAL else CHANCE)
            infosets.append(-1)
            if actor == pyspiel.PlayerId.CHANCE:
                outcomes = [(a, p) for a, p in state.chance_outcomes() if p > 0]
                stack.extend((state, here, a, p, depth + 1, *last) for a, p in reversed(outcomes))
            continue
        actors.append(actor)
        text = state.information_state_string(actor)
        key = (actor, text, last[actor]) if restore_recall else (actor, text)
        infoset = ids.setdefault(key, len(ids))
        infosets.append(infoset)
        if infoset == len(keys):
            owners.append(actor)
            levels.append(levels[last[actor][0]] + 1 if last[actor] else 0)
            keys.append(text)
            own_last.append(last[actor])
        elif own_last[infoset] != last[actor]:
            forgetful.add(infoset)
        legal = state.legal_actions()
        for index in range(len(legal) - 1, -1, -1):
            moved = (infoset, index)
            after = (moved, last[1]) if actor == 0 else (last[0], moved)
            stack.append((state, here, legal[index], 1.0, depth + 1, *after))
    walk = Traversal(
        parent=np.array(parents),
        depth=np.array(depths),
        action=np.array(actions),
        actor=np.array(actors),
        infoset=np.array(infosets),
        probability=np.array(probabilities),
        utility=np.array(utilities),
        infoset_player=np.array(owners),
        infoset_level=np.array(levels),
        infoset_keys=keys,
    )
    return walk, len(forgetful)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def openspiel_game(tree: GameTree) -> Any:
    """The turn-based OpenSpiel game that ``tree`` was compiled from."""
    return _open(tree.openspiel_name, ())


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
            record = self._tree.histories[history]
            first = int(record["first_child"])
            edges = self._tree.edge_action[first : first + int(record["num_children"])]
            history = first + int(np.flatnonzero(edges == action)[0])
        sequences = self._tree.infoset_sequences(int(self._tree.histories["infoset"][history]))
        return {
            int(action): float(probability)
            for action, probability in zip(
                self._tree.sequence_action[sequences], self._probabilities[sequences], strict=True
            )
        }
