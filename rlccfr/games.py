"""Games by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rlccfr.game_tree import GameTree


@dataclass(frozen=True)
class NamedGame:
    """A short name for an OpenSpiel string."""

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


def load_game(
    name: str,
    *,
    restore_recall: bool | None = None,
    max_histories: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> GameTree:
    """Compile a game: a short name (``kuhn``, ``leduc``, ``royal``, ``goofspiel``) or any OpenSpiel string.

    Simultaneous games are turned into sequential ones. Games of 20,000 histories and more are kept in the user's cache
    folder (or ``$RLCCFR_CACHE``), from which they are read the next time.

    Args:
        restore_recall: tell histories of one information state apart by the player's own last move, for games
            whose information states forget (``royal`` does so by itself).
        max_histories: the size limit (2 million); a history takes about 7 microseconds and 300 bytes to compile.
        progress: called now and then with the share done, estimated as if siblings were alike.

    Raises:
        GameError: an unknown name (the nearest is suggested), more than two players, general-sum, imperfect
            recall, or more histories than the limit.
    """
    from rlccfr.openspiel import MAX_HISTORIES, compile_game

    named = NAMED_GAMES.get(name) if isinstance(name, str) else None
    if restore_recall is None:
        restore_recall = bool(named and named.restore_recall)
    return compile_game(
        named.openspiel_name if named else name,
        name=name,
        restore_recall=restore_recall,
        max_histories=MAX_HISTORIES if max_histories is None else max_histories,
        known_names=NAMED_GAMES,
        progress=progress,
    )
