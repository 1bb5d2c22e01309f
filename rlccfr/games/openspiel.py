"""Loading, checking and listing OpenSpiel's games."""

from __future__ import annotations

import faulthandler
import inspect
import itertools
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pyspiel

from rlccfr.errors import GameError, RLCCFRError, brief, first_line, raised_in
from rlccfr.game import OpponentPayoffs
from rlccfr.games import generated  # noqa: F401  (registers games with OpenSpiel)
from rlccfr.games.cache import find_game, keep_game
from rlccfr.games.check import is_played_as, registered_code, string_identifies
from rlccfr.games.compiler import build
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.gambit import rules  # noqa: F401  (registers games with OpenSpiel)
from rlccfr.games.gambit.files import shown
from rlccfr.games.generated.spiel import REGISTERED, rules_of
from rlccfr.games.hints import hint_for
from rlccfr.games.histories import Traversal
from rlccfr.games.parameters import name_taken
from rlccfr.games.playable import playable
from rlccfr.games.size import TooLargeError
from rlccfr.games.traversal import traverse
from rlccfr.interrupts import raise_if_interrupt

MAX_HISTORIES = 2_000_000
"""Default limit on the number of histories; that many take under 1 GB and about 15 seconds to compile."""

SOLVED = (pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM)
"""OpenSpiel's types of utilities that a game may have; games with other types are not solved.

A constant-sum game is solved with player 0's payoffs. Player 1's are their negatives plus a constant, so the equilibria
are those of the zero-sum game.
"""

CRASHES = "universal_poker"
"""Name of the OpenSpiel game that crashes the process if its arguments are inconsistent.

An example is a blind that exceeds the stack.
"""

_TRIED: set[str] = set()
"""OpenSpiel strings of the game :data:`CRASHES` that have been loaded without a crash."""

_OBJECTS: dict[str, Any] = {}
"""Games that were given as objects, and that OpenSpiel can't load by a name; they live as long as this process."""

_OPPONENT_PAYOFFS: dict[str, OpponentPayoffs] = {}
"""Player 1's payoffs, by the game's name, for games that OpenSpiel was given as zero-sum though they are not."""


def compile_game(
    openspiel_name: str,
    *,
    name: str | None = None,
    restore_recall: bool = False,
    max_histories: int = MAX_HISTORIES,
    known_names: Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
) -> GameTree:
    """Compile the game of an OpenSpiel string, or return it from the cache; see :func:`rlccfr.load_game`.

    Args:
        openspiel_name: the OpenSpiel string.
        name: the game's name for display; by default the string, or the file that it stands for.
        restore_recall, max_histories, progress: see :func:`rlccfr.load_game`.
        known_names: names, besides OpenSpiel's, that the error for an unknown name may suggest.

    Raises:
        GameError: see :func:`rlccfr.load_game`.
    """
    if not isinstance(openspiel_name, str):
        raise GameError(
            f"a game must be a name, an OpenSpiel string or an OpenSpiel game object, not {brief(openspiel_name)}"
        )
    name = name or shown(openspiel_name)
    game = turn_based_game(openspiel_name, known_names, name)
    # Games that OpenSpiel ships may be in the cache. Their code changes only with OpenSpiel's version.
    may_be_kept = openspiel_name not in _OBJECTS and _registered_code(game, openspiel_name) is None
    kept = _kept_tree(game, openspiel_name, name, restore_recall) if may_be_kept else None
    if kept is not None and kept.num_histories <= max_histories:
        return kept
    walk, forgetful = _traversed(game, name, restore_recall, max_histories, progress)
    if forgetful:
        raise GameError(
            f"{name!r} has imperfect recall: in {forgetful:,} of its {len(walk.infoset_keys):,} infosets a "
            "player has forgotten an earlier move or observation, and CFR's guarantees do not hold; "
            "in Python, load_game(name, restore_recall=True) distinguishes such histories by the player's own last move"
        )
    tree = build(
        walk,
        name=name,
        openspiel_name=openspiel_name,
        restore_recall=restore_recall,
        opponent_payoffs=opponent_payoffs_of(game, name, openspiel_name),
        big_blind=big_blind_of(game),
    )
    if may_be_kept:
        keep_game(tree)
    return tree


def _kept_tree(game: Any, openspiel_name: str, name: str, restore_recall: bool) -> GameTree | None:
    """Return the compiled game from the cache; None if it is not there, or if OpenSpiel's game has changed."""
    cached = find_game(openspiel_name, restore_recall)
    if cached is None:
        return None
    with _quiet():
        is_current = is_played_as(cached, game, declared_sum(game, name))
    if not is_current:
        return None
    # The cache knows neither the names that the user chose nor payoffs that are not zero-sum.
    return replace(
        cached,
        name=name,
        openspiel_name=openspiel_name,
        opponent_payoffs=opponent_payoffs_of(game, name, openspiel_name),
        big_blind=big_blind_of(game),
    )


def _traversed(
    game: Any, name: str, restore_recall: bool, max_histories: int, progress: Callable[[float], None] | None
) -> tuple[Traversal, int]:
    """Visit every history of an OpenSpiel game; see :func:`rlccfr.games.traversal.traverse`.

    Raises:
        GameError: the game is too large, breaks a claim, or can't be played.
    """
    try:
        with named_failures(game, name), _quiet() as aloud:
            report = _reporter(progress, aloud) if progress else None
            # Rules in Python are visited without OpenSpiel's states, which are slow to copy.
            return traverse(
                rules_of(game) or playable(game), name, restore_recall, max_histories, report, declared_sum(game, name)
            )
    # What the caller's function raised goes to the caller as it is.
    except _ProgressError as error:
        raise error.__cause__ or error from None
    except TooLargeError as error:
        if game.get_type().information != pyspiel.GameType.Information.PERFECT_INFORMATION:
            if not game.get_type().provides_information_state_tensor:
                raise
            raise TooLargeError(
                f"{error}; or load 'generated({name})', which compiles nothing, for deep rules"
            ) from None
        raise TooLargeError(
            f"{error}; or search the game: with perfect information it needs no CFR, and OpenSpiel has minimax and MCTS"
        ) from None


@contextmanager
def named_failures(game: Any, name: str) -> Iterator[None]:
    """Turn an error of OpenSpiel, or of a game in Python, into a GameError of one line that names the game.

    Raises:
        GameError: the game fails while it is played in the block.
    """
    try:
        yield
    except (RLCCFRError, MemoryError, _ProgressError):
        raise
    except (Exception, SystemExit) as error:  # a SpielError, or an error of its C++ library or of a game in Python
        raise_if_interrupt(error)
        raise GameError(f"{name!r} can't be played: {raised_in(error, _files_of(game))}") from error


def _files_of(game: Any) -> set[str]:
    """Return the file that defines a game in Python; an empty set for OpenSpiel's games in C++."""
    try:
        return {inspect.getfile(type(game))}
    except (TypeError, OSError):
        return set()


def registered_here(openspiel_name: str) -> tuple[type, ...] | None:
    """Return the classes of a game that do not belong to OpenSpiel, or None for a game that OpenSpiel ships.

    Raises:
        GameError: the game can't be loaded, or CFR's guarantees can't hold for it.
    """
    return _registered_code(turn_based_game(openspiel_name), openspiel_name)


def is_shipped(short_name: str) -> bool:
    """Return whether OpenSpiel's own game is still registered under one of its short names."""
    with _quiet():
        try:
            game = pyspiel.load_game(short_name)
        except Exception as error:  # games in Python raise errors of any class
            raise_if_interrupt(error)
            return False
    return _registered_code(game, short_name) is None


def _registered_code(game: Any, openspiel_name: str) -> tuple[type, ...] | None:
    with _quiet():
        return registered_code(game, openspiel_name, pyspiel.registered_names(), pyspiel.load_game)


def turn_based_game(openspiel_name: str, known_names: Iterable[str] = (), name: str = "") -> Any:
    """Return the OpenSpiel game that a string stands for; a simultaneous game is converted to a turn-based one.

    Args:
        openspiel_name: the string.
        known_names: names, besides OpenSpiel's, that the error for an unknown name may suggest.
        name: the game's name for errors; by default the string, or the file that it stands for.

    Raises:
        GameError: the name is unknown, OpenSpiel can't load the game, or the game is not of a supported kind.
    """
    name = name or shown(openspiel_name)
    if openspiel_name in _OBJECTS:
        return _checked_turn_based(_OBJECTS[openspiel_name], name)
    short_name = openspiel_name.split("(")[0].strip()
    registered = pyspiel.registered_names()
    if short_name not in registered:
        if os.path.isfile(openspiel_name):
            raise GameError(
                f"{brief(openspiel_name)} is not a game's file, which ends with .efg; for a policy's file, use `rlccfr "
                "show` or `rlccfr explore`, or `rlccfr play GAME --against FILE` to play against it"
            )
        hint = hint_for(short_name, [*known_names, *solvable_names()])
        raise GameError(f"unknown game {brief(name)}; {hint}")
    try:
        with _quiet():
            game = _from_string(openspiel_name)
    except (RLCCFRError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # OpenSpiel's games in Python raise errors of any class
        raise_if_interrupt(error)
        raise GameError(f"OpenSpiel can't load {brief(name)}: {first_line(error)}") from error
    if short_name in REGISTERED and rules_of(game) is None:
        raise name_taken(short_name, "a game of this library's")
    return _checked_turn_based(game, name)


def _from_string(openspiel_name: str) -> Any:
    """Return the game that OpenSpiel loads by a string.

    OpenSpiel reads ``firstPlayer=1`` as a number, and then rejects it where a game expects a string with a list of
    numbers, even in strings that OpenSpiel itself has written. Such numbers are converted to strings.
    """
    arguments = pyspiel.game_parameters_from_string(openspiel_name)
    typed_arguments = _as_specified(arguments)
    load: Callable[[], Any] = partial(pyspiel.load_game, openspiel_name)
    if typed_arguments != arguments:
        load = partial(pyspiel.load_game, typed_arguments.pop("name"), typed_arguments)
    if f"{CRASHES}(" in openspiel_name and openspiel_name not in _TRIED:
        _try_in_child(load)
        _TRIED.add(openspiel_name)  # a game is opened several times while it is compiled
    return load()


def _try_in_child(load: Callable[[], Any]) -> None:
    """Load a game in a child process first, so that a crash ends only the child; do nothing where forks are impossible.

    Args:
        load: function that loads the game.

    Raises:
        ValueError: the child crashed; the message is the first line that OpenSpiel wrote before the crash.
    """
    if not hasattr(os, "fork"):
        return
    readable, writable = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks beside threads, because the child may wait for their locks; loading needs no lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            child = os.fork()
        except OSError:  # no memory for a second process
            return
    if child == 0:
        try:
            faulthandler.disable()  # the crash is expected
            os.dup2(writable, 2)
            load()
        finally:
            os._exit(0)  # exceptions are raised by the parent, which loads the game again
    os.close(writable)
    with open(readable, errors="replace") as stream:
        written = stream.read().strip()
    _, status = os.waitpid(child, 0)
    if status:  # the child itself always ends with 0
        reason = written.splitlines()[0] if written else "its arguments are inconsistent"
        raise ValueError(reason)


def _as_specified(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a game's name and arguments, with numbers converted to strings where the game's parameters are strings.

    Args:
        arguments: the name and arguments that OpenSpiel reads in a string; an argument may be the dict of another game.
    """
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    kind = kinds.get(arguments.get("name"))
    defaults = {} if kind is None else kind.parameter_specification
    typed_arguments: dict[str, Any] = {}
    for parameter, value in arguments.items():
        if isinstance(value, dict):
            typed_arguments[parameter] = _as_specified(value)
        elif type(value) in (int, float) and isinstance(defaults.get(parameter), str):
            typed_arguments[parameter] = str(value)
        else:
            typed_arguments[parameter] = value
    return typed_arguments


def _checked_turn_based(game: Any, name: str) -> Any:
    """Return the turn-based form of a game.

    Raises:
        GameError: the game is not of a supported kind.
    """
    kind = game.get_type()
    if game.num_players() != 2:
        raise GameError(f"{name!r} has {game.num_players()} players; only two-player games are solved")
    if kind.utility not in SOLVED:
        raise GameError(
            f"{name!r} is declared {kind.utility.name.lower()}, but only zero-sum and constant-sum games are solved; "
            "if its payoffs sum to a constant, declare it so: ZERO_SUM, or CONSTANT_SUM with utility_sum"
        )
    declared_sum(game, name)
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise GameError(f"{name!r} hides its chance probabilities, without which its tree can't be built")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        # Player 1 then moves second, and does not see player 0's move.
        game = pyspiel.convert_to_turn_based(game)
    if not game.get_type().provides_information_state_string:
        raise GameError(f"{name!r} does not provide information states, so its infosets are unknown")
    return game


def declared_sum(game: Any, name: str) -> float:
    """Return the sum of the players' returns that a game declares; 0 if it declares none.

    Args:
        game: OpenSpiel's game.
        name: its name, for the error.

    Raises:
        GameError: the declared sum is not finite, or it is not 0 although the game declares itself zero-sum.
    """
    declared = game.utility_sum() or 0.0
    if not math.isfinite(declared):
        raise GameError(f"{name!r} declares that returns sum to {declared}; utility_sum must be finite")
    if declared and game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM:
        raise GameError(
            f"{name!r} declares that it is zero-sum, but also that its returns sum to {declared:g}; set utility_sum to "
            "0, or the utility to CONSTANT_SUM"
        )
    return float(declared)


def opponent_payoffs_of(game: Any, name: str, openspiel_name: str) -> OpponentPayoffs:
    """Return player 1's payoffs as a function of player 0's.

    They are those that :func:`keep_opponent_payoffs` has stored, if any. Otherwise, the rules of a game of this library
    give them, and in any other game, both players' payoffs have the sum that the game declares.
    """
    if openspiel_name in _OPPONENT_PAYOFFS:
        return _OPPONENT_PAYOFFS[openspiel_name]
    own_rules = rules_of(game)
    return OpponentPayoffs(declared_sum(game, name)) if own_rules is None else own_rules.opponent_payoffs


def big_blind_of(game: Any) -> float | None:
    """Return the larger blind in chips, read from the parameters of ``universal_poker``; None for other games."""
    if game.get_type().short_name != "universal_poker":
        return None
    return max(map(float, game.get_parameters()["blind"].split())) or None


def keep_opponent_payoffs(game: pyspiel.Game, payoffs: OpponentPayoffs) -> None:
    """Store player 1's payoffs for a game that is not zero-sum.

    OpenSpiel itself has the game as a zero-sum game with player 0's payoffs.
    """
    _OPPONENT_PAYOFFS[name_of(game)] = payoffs


def name_of(game: pyspiel.Game) -> str:
    """Return the name by which a game object is loaded: its own, or one under which this process keeps the object."""
    name = str(game)
    with _quiet():
        try:
            loaded = _from_string(name)
            if str(loaded) == name and string_identifies(game, loaded, pyspiel.load_game):
                return name
        except Exception as error:  # OpenSpiel does not know it by this name
            raise_if_interrupt(error)
    # If OpenSpiel has a game of that name, a number is appended to it.
    first_number = int(name.partition("(")[0] in pyspiel.registered_names())
    candidates = (name if number == 0 else f"{name}#{number}" for number in itertools.count(first_number))
    free_name = next(candidate for candidate in candidates if _OBJECTS.get(candidate, game) is game)
    _OBJECTS[free_name] = game
    return free_name


def kept_object(name: str) -> pyspiel.Game | None:
    """Return the game object that this process keeps under a name, if there is one."""
    return _OBJECTS.get(name)


class _ProgressError(Exception):
    """An error whose cause was raised by the caller's ``progress`` function, not by OpenSpiel."""


def _reporter(progress: Callable[[float], None], aloud: Callable[[], AbstractContextManager[None]]) -> Any:
    """Return a wrapper of ``progress`` that shows what it writes to stderr and raises its errors as _ProgressError."""

    def report(share: float) -> None:
        with aloud():
            try:
                progress(share)
            except Exception as error:
                raise _ProgressError from error

    return report


@contextmanager
def _quiet() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Hide stderr in the block, because OpenSpiel's C++ code also prints the errors that it raises.

    Yields:
        Function that returns a context manager, within which stderr is shown.
    """
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
    """Return the two-player games of a supported kind that are registered with OpenSpiel: long names by short name.

    They are zero-sum or constant-sum, their chance nodes have probabilities, and they have information states unless
    moves are simultaneous. All of them can be loaded without parameters; some are too large for any size limit.
    """
    return {
        kind.short_name: kind.long_name
        for kind in pyspiel.registered_games()
        if kind.default_loadable
        and kind.min_num_players <= 2 <= kind.max_num_players
        and kind.utility in SOLVED
        and kind.chance_mode != pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        and (kind.provides_information_state_string or kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS)
    }


def games_not_shipped() -> dict[str, str]:
    """Return those games of :func:`solvable_names` that OpenSpiel does not ship: long names by short name."""
    return {short_name: long_name for short_name, long_name in solvable_names().items() if _is_not_shipped(short_name)}


def _is_not_shipped(openspiel_name: str) -> bool:
    """Return whether a registered game can be loaded and is not shipped by OpenSpiel."""
    try:
        return registered_here(openspiel_name) is not None
    except GameError:
        return False


def openspiel_game(tree: GameTree) -> Any:
    """Return the turn-based OpenSpiel game that ``tree`` was compiled from."""
    return turn_based_game(tree.openspiel_name)
