"""Names of games, with and without parameters."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rlccfr.errors import GameError, whole_number
from rlccfr.game import Form
from rlccfr.games.bucket_histories.form import BUCKET_HISTORIES
from rlccfr.games.flat_tree import COMPILED, GameTree
from rlccfr.games.gambit.files import is_file, shown, spiel_name
from rlccfr.games.parameters import InOpenSpiel, name_taken, parts_of
from rlccfr.games.public.subgame import SUBGAME
from rlccfr.games.public.view import PUBLIC_TREE
from rlccfr.games.walked.generated_form import GENERATED, PREFIX

if TYPE_CHECKING:
    import pyspiel


class NamesOfForm(NamedTuple):
    """The names of games of one form, and how they are loaded.

    Attributes:
        form: the form.
        serves: import path of a function that returns whether a name stands for a game of the form.
        load: import path of a function that loads the game that a name stands for; its second argument is a function
            called with the share of the work that is done, or None.
        identity: import path of a function that returns equal results for all names of the same game.
    """

    form: Form
    serves: str
    load: str
    identity: str


FORMS = (
    NamesOfForm(  # before public trees, whose names are the same but for the parameter ``buckets``
        BUCKET_HISTORIES,
        serves="rlccfr.games.bucket_histories.rules:is_in_buckets",
        load="rlccfr.games.bucket_histories.names:bucket_game",
        identity="rlccfr.games.bucket_histories.rules:bucket_rules",
    ),
    NamesOfForm(
        PUBLIC_TREE,
        serves="rlccfr.games.public.names:is_public",
        load="rlccfr.games.public.names:public_game",
        identity="rlccfr.games.public.names:rules_of",
    ),
    NamesOfForm(
        SUBGAME,
        serves="rlccfr.games.public.spots:is_subgame",
        load="rlccfr.games.public.spots:subgame_named",
        identity="rlccfr.games.public.spots:identity_of_subgame",
    ),
    NamesOfForm(
        GENERATED,
        serves="rlccfr.games.walked.generated_form:is_generated",
        load="rlccfr.games.walked.generated_game:generated_game",
        identity="rlccfr.games.walked.generated_game:identity_of_generated",
    ),
)
"""The forms whose games have names of their own; all other names are those of compiled games."""

GameName = str | os.PathLike[str]
"""A game's name, or the path of a game's file."""


@dataclass(frozen=True)
class NamedGame:
    """A short name for an OpenSpiel string; ``restore_recall`` is the default of :func:`load_game` for the name."""

    name: str
    openspiel_name: str
    description: str
    restore_recall: bool = False


NAMED_GAMES = {
    game.name: game
    for game in (
        NamedGame("kuhn", "kuhn_poker", "Kuhn poker: 3 cards, one bet; value -1/18"),
        NamedGame("leduc", "leduc_poker", "Leduc poker: 6 cards, two betting rounds, one public card"),
        NamedGame(
            "royal",
            "universal_poker(betting=limit,numPlayers=2,numRounds=3,blind=1 1,raiseSize=2 4 4,"
            "firstPlayer=1 1 1,maxRaises=2 2 2,numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1 1)",
            "Royal poker: 8 cards, three betting rounds, two public cards, best pair or high card",
            restore_recall=True,  # OpenSpiel's information state forgets the order of the public cards
        ),
        NamedGame(
            "goofspiel",
            "goofspiel(num_cards=4,imp_info=True,points_order=descending)",
            "Goofspiel: 4 cards each, prizes in descending order, bids hidden",
        ),
    )
}


PARAMETRISED = {
    game.name: game
    for game in (
        InOpenSpiel(
            "kuhn",
            {"cards": (3, 2, 13)},
            # The second number of a pair is for a round that is not played. It stays, since stores use this string.
            "universal_poker(betting=limit,numPlayers=2,numRounds=1,blind=1 1,raiseSize=1 1,firstPlayer=1 1,"
            "maxRaises=1 1,numSuits=1,numRanks={cards},numHoleCards=1,numBoardCards=0 0)",
            ("cards",),
            2,
        ),
        InOpenSpiel(
            "leduc",
            {"ranks": (3, 2, 13), "suits": (2, 1, 4), "raises": (2, 1, 6)},
            "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,"
            "maxRaises={raises} {raises},numSuits={suits},numRanks={ranks},numHoleCards=1,numBoardCards=0 1)",
            ("ranks", "suits"),
            3,
        ),
    )
}
"""Games whose short names take parameters. For Goofspiel and Liar's dice, use OpenSpiel's strings with parameters."""

RANDOM_KINDS = {
    "poker": "Rounds of betting on random hands, made from a seed: random_poker(seed=1)",
    "moves": "Moves that the opponent sees whole, in part or not at all, made from a seed: random_moves(seed=1)",
}
"""Kinds of games that are made from a seed, each with the description that lists of games show."""


def as_name(name: Any) -> Any:
    """Return the path of a game's file as a string; anything else, such as a name, as it is."""
    return os.fspath(name) if isinstance(name, os.PathLike) else name


def openspiel_name(name: str) -> str:
    """Return the OpenSpiel string of a short name, with or without parameters, or of a file; else the name unchanged.

    Raises:
        GameError: a parameter is unknown, given twice or not a whole number, a value is out of range, the deck is too
            small, or a file can't be read.
    """
    if name in NAMED_GAMES:
        return NAMED_GAMES[name].openspiel_name
    if is_file(name):
        return spiel_name(name)
    parts = parts_of(name, PARAMETRISED)
    if parts is None:
        return name
    short, arguments = parts
    return PARAMETRISED[short].member(arguments)


def check_not_taken(name: str) -> None:
    """Refuse a name of this library's if another game has been registered with OpenSpiel under it.

    The same holds for the name of the OpenSpiel game that a short name stands for. Otherwise, one of the two games
    would be solved in place of the other, without a word.

    Raises:
        GameError: there is such a game, or a parameter is wrong.
    """
    from rlccfr.games.public.names import PUBLIC

    # Where OpenSpiel was not imported, nothing has been registered; games on public trees are loaded without it.
    pyspiel = sys.modules.get("pyspiel")
    if pyspiel is None or is_file(name):
        return
    is_short = name in NAMED_GAMES or parts_of(name, PARAMETRISED) is not None
    if not (is_short or parts_of(name, PUBLIC) is not None):
        return
    from rlccfr.games.openspiel import is_shipped

    short = name.partition("(")[0]
    in_openspiel = openspiel_name(name).partition("(")[0] if is_short else ""
    if short != in_openspiel and short in pyspiel.registered_names():
        raise name_taken(short, "a game of this library's")
    if is_short and not is_shipped(in_openspiel):
        raise name_taken(in_openspiel, f"a game of OpenSpiel's, for which {name!r} stands")


def short_name(openspiel_name: str) -> str:
    """Return the short name, such as ``leduc``, that stands for an OpenSpiel string; else the string unchanged."""
    return next((name for name, game in NAMED_GAMES.items() if game.openspiel_name == openspiel_name), openspiel_name)


def form_named(name: str) -> Form:
    """Return the form of the game that a name stands for, without loading the game.

    Raises:
        GameError: a parameter is given twice, or is not a whole number.

    Examples:
        >>> form_named("holdem(rounds=1)").catalogs
        ('public',)
    """
    names = _names_of_form(name)
    return COMPILED if names is None else names.form


def identity_of(name: str) -> object:
    """Return a value that is equal for names of the same game; for a compiled game, it is the OpenSpiel string.

    An OpenSpiel string that gives a parameter its default value counts as another game.

    Raises:
        GameError: a parameter is unknown, or a value is out of range.

    Examples:
        >>> identity_of("kuhn") == identity_of("kuhn_poker")
        True
    """
    names = _names_of_form(name)
    return openspiel_name(name) if names is None else resolve_name(names.identity)(name)


def _names_of_form(name: Any) -> NamesOfForm | None:
    """Return the entry of :data:`FORMS` for a name; None if the name is that of a game to compile."""
    names = next((names for names in FORMS if resolve_name(names.serves)(name)), None)
    return names if names is not None and not is_file(name) else None


def random_game(kind: str = "poker", *, seed: int = 0, **parameters: int) -> GameTree:
    """Return a game generated from a seed: the same kind, seed and parameters always give the same game.

    ``load_game("random_poker(seed=0,hands=4)")`` and ``random_game("poker", seed=0, hands=4)`` are the same.

    Args:
        kind: ``"poker"``, rounds of betting on random hands (see :mod:`rlccfr.games.generated.poker`), or ``"moves"``,
            moves that the opponent sees in part (see :mod:`rlccfr.games.generated.moves`).
        seed: seed of everything in the game that is drawn at random.
        parameters: numbers that set the game's size; the module of the kind lists them.

    Raises:
        GameError: the kind or a parameter is unknown, or a value is out of range.

    Examples:
        >>> import rlccfr
        >>> rlccfr.random_game("poker", seed=1, hands=2).name
        'random_poker(seed=1,hands=2)'
    """
    if kind not in RANDOM_KINDS:
        raise GameError(f"the kind of a random game must be {' or '.join(map(repr, RANDOM_KINDS))}, not {kind!r}")
    arguments = ",".join(f"{name}={value}" for name, value in {"seed": seed, **parameters}.items())
    game: GameTree = load_game(f"random_{kind}({arguments})")
    return game


def load_game(
    name: GameName | pyspiel.Game,
    *,
    restore_recall: bool | None = None,
    max_histories: int | None = None,
    progress: Callable[[float], None] | None = None,
    form: Literal["generated"] | None = None,
) -> Any:
    """Load a game by its name or OpenSpiel string, and compile it.

    ``kuhn(cards=5)`` and ``leduc(ranks=4,suits=2,raises=2)`` are larger or smaller variants; each parameter may be
    left out. ``flop_holdem`` and ``holdem(rounds=2,raises=4)`` are represented as public trees, because a tree of
    histories would not fit into memory; see :mod:`rlccfr.games.public.names`. ``texas_holdem(buckets=5)`` is Texas
    hold'em in which hands are put in buckets; see :mod:`rlccfr.games.bucket_histories.game`. ``generated(phantom_ttt)``
    is never compiled; see ``form``.

    Simultaneous games are turned into sequential ones. OpenSpiel's own games of 20,000 histories and more are kept in
    the user's cache folder (or ``$RLCCFR_CACHE``). The next time they are read from there, and random playouts compare
    them with OpenSpiel's games. A game that your own code registers is compiled each time.

    Args:
        name: a short name (``kuhn``, ``leduc``, ``royal``, ``goofspiel``), a short name with parameters, an OpenSpiel
            string, the name or path of a Gambit file (``game.efg``), or an OpenSpiel game object. A game object that
            OpenSpiel can't load by a name is known in this process only. If a file's game is strictly competitive but
            not zero-sum, or an OpenSpiel game is constant-sum, the zero-sum game of player 0's payoffs is solved.
        restore_recall: whether to distinguish histories of one information state by the player's own last move, for
            games whose information states do not record it. By default, this is done only for ``royal``.
        max_histories: size limit, 2 million by default; a history takes about 7 microseconds and 300 bytes to compile.
        progress: function called now and then with the share of the work that is done, estimated as if siblings had
            subtrees of equal size.
        form: ``"generated"`` to compile nothing, for games of any size: deep rules then walk through OpenSpiel's
            states. ``load_game("generated(phantom_ttt)")`` is the same. By default, the name decides.

    Returns:
        A :class:`rlccfr.GameTree`, a :class:`rlccfr.PublicGame`, or the game of another form.

    Raises:
        GameError: the name is unknown (the nearest is suggested), or another game was registered under a name of this
            library's; or the game does not have two players, is neither zero-sum nor constant-sum, breaks a claim
            (:mod:`rlccfr.games.claims`), hides its chance probabilities or information states, has imperfect recall,
            can't be played by OpenSpiel, or has more histories than the limit or than fit into memory.

    Examples:
        >>> import rlccfr
        >>> rlccfr.load_game("kuhn")
        GameTree('kuhn', histories=58, infosets=12, sequences=24)
    """
    from rlccfr.games.public.names import PUBLIC

    name = _name_in_form(as_name(name), form)
    names = _names_of_form(name)
    if names is not None:
        if max_histories is not None or restore_recall is not None:
            raise GameError(
                f"{name!r} is represented {names.form.title}, but max_histories and restore_recall apply only to trees "
                "of histories: leave them out"
            )
        return resolve_name(names.load)(name, progress)
    return _compiled(name, restore_recall, max_histories, progress, known_names=(*NAMED_GAMES, *PUBLIC))


def _name_in_form(name: Any, form: str | None) -> Any:
    """Return a game's name; if ``form`` is given, return the name ``generated(...)`` of the game instead.

    Args:
        name: the name, or a game object.
        form: ``"generated"`` or None.

    Raises:
        GameError: there is no such form, the name is not a string, or another game has a name of this library's.
    """
    from rlccfr.games.openspiel import kept_object, name_of
    from rlccfr.games.public.names import PUBLIC

    if not isinstance(name, str) and hasattr(name, "new_initial_state"):
        name = name_of(name)
        short = name.partition("(")[0]
        if kept_object(name) is not None and short in (*PARAMETRISED, *PUBLIC):
            raise name_taken(short, "a game of this library's")
    if isinstance(name, str):
        check_not_taken(name)
    if form is None:
        return name
    if form != "generated":
        raise GameError(f"form must be 'generated', or be left out, not {form!r}")
    if not isinstance(name, str):
        raise GameError(f"a game must be a name, an OpenSpiel string or an OpenSpiel game object, not {name!r}")
    return name if name.startswith(PREFIX) else f"{PREFIX}{name})"


def _compiled(
    name: Any,
    restore_recall: bool | None,
    max_histories: int | None,
    progress: Callable[[float], None] | None,
    known_names: tuple[str, ...],
) -> GameTree:
    """Compile a game to a tree of histories; see :func:`load_game`.

    Args:
        known_names: names, besides OpenSpiel's, that the error for an unknown name may suggest.
    """
    from rlccfr.games.openspiel import MAX_HISTORIES, compile_game

    is_text = isinstance(name, str)
    if restore_recall is None:
        restore_recall = is_text and name in NAMED_GAMES and NAMED_GAMES[name].restore_recall
    limit = MAX_HISTORIES if max_histories is None else whole_number(max_histories, "max_histories", 1, GameError)
    return compile_game(
        # What is not a string goes on unchanged, so that the compiler's error shows it.
        openspiel_name(name) if is_text else name,
        name=shown(name) if is_text else name,
        restore_recall=restore_recall,
        max_histories=limit,
        known_names=known_names,
        progress=progress,
    )
