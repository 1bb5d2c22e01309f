"""Families of games: small training games, and other games that show how well training on them generalises.

Every training game has at most 2,900 histories. Royal, Liar's dice with six faces, Leduc with 26 cards, Goofspiel with
seven cards and the larger Battleship are at least a hundred times as large as the largest training game.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family: games that differ in a few numbers.

    Attributes:
        name: prefix of its members' names.
        train: training games, as names or OpenSpiel strings that :func:`rlccfr.load_game` accepts; () for a family that
            serves only for validation or tests.
        validation: validation games, never trained on, but used to choose the training method (ADR 16). Of the paper's
            games, three-card Kuhn is a training game; the others are validation games.
        test: test games, never trained on, and measured only after the training method had been chosen.
    """

    name: str
    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...] = ()

    @property
    def held_out(self) -> tuple[str, ...]:
        """The validation and test games, which are never trained on."""
        return (*self.validation, *self.test)


def _goofspiel(cards: int, prizes: str, returns: str = "win_loss", turns: int = 0) -> str:
    num_turns = f",num_turns={turns}" if turns else ""
    return f"goofspiel(num_cards={cards},imp_info=True,points_order={prizes},returns_type={returns}{num_turns})"


def _liars_dice(dice: int, faces: int, rule: str = "reset-face") -> str:
    return f"liars_dice(numdice={dice},dice_sides={faces},bidding_rule={rule})"


def _battleship(width: int, height: int, ships: str, shots: int) -> str:
    fleet = f"ship_sizes=[{ships}],ship_values=[{ships}]"
    return f"battleship(board_width={width},board_height={height},{fleet},num_shots={shots})"


def _kuhn(*deck_sizes: int) -> tuple[str, ...]:
    return tuple(f"kuhn(cards={cards})" for cards in deck_sizes)


def _leduc(*sizes: tuple[int, int, int]) -> tuple[str, ...]:
    return tuple(f"leduc(ranks={ranks},suits={suits},raises={raises})" for ranks, suits, raises in sizes)


# Two rounds of limit betting with a deck of eight cards.
_UNIVERSAL_POKER = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1)"
)
_RETURNS = ("win_loss", "point_difference")

FAMILIES = (
    Family("kuhn", _kuhn(3, 4, 5, 6, 8, 10, 12), _kuhn(7, 9, 13), _kuhn(11)),
    Family(
        "leduc",
        _leduc((3, 1, 1), (3, 1, 2), (3, 1, 3), (3, 1, 4), (4, 1, 1), (4, 1, 2), (5, 1, 1), (2, 2, 1), (2, 2, 2)),
        (*_leduc((2, 2, 3), (3, 2, 1), (2, 3, 1)), "leduc"),
        _leduc((4, 1, 3), (5, 1, 2), (6, 1, 1), (2, 2, 4), (13, 2, 1)),
    ),
    Family(
        "goofspiel",
        (
            *(
                _goofspiel(3, prizes, returns)
                for prizes in ("descending", "ascending", "random")
                for returns in _RETURNS
            ),
            *(_goofspiel(4, prizes, returns, 2) for prizes in ("descending", "ascending") for returns in _RETURNS),
            _goofspiel(5, "descending", turns=2),
        ),
        (
            "goofspiel",
            _goofspiel(4, "ascending"),
            _goofspiel(4, "descending", "point_difference"),
            _goofspiel(5, "descending", turns=3),
        ),
        (
            _goofspiel(4, "ascending", "point_difference"),
            _goofspiel(5, "ascending", "point_difference", 3),
            _goofspiel(6, "descending", turns=2),
            _goofspiel(7, "descending", "point_difference", 4),
        ),
    ),
    Family(
        "liars_dice",
        tuple(_liars_dice(1, faces, rule) for faces in (2, 3) for rule in ("reset-face", "reset-quantity")),
        (_liars_dice(1, 4), _liars_dice(2, 2), _liars_dice(1, 6)),
        tuple(_liars_dice(dice, faces, "reset-quantity") for dice, faces in ((1, 4), (2, 2), (1, 6))),
    ),
    Family("royal", (), ("royal",)),
    Family("dark_hex", (), ("dark_hex(board_size=2)",), ("dark_hex(board_size=2,gameversion=adh)",)),
    Family("battleship", (), (_battleship(2, 2, "1", 2), _battleship(2, 2, "1;2", 3)), (_battleship(3, 1, "1", 3),)),
    Family("oshi_zumo", (), (), ("oshi_zumo(coins=4,size=1,horizon=4)",)),
    Family("universal_poker", (), (), (_UNIVERSAL_POKER,)),
)

TRAIN = tuple(game for family in FAMILIES for game in family.train)
VALIDATION = tuple(game for family in FAMILIES for game in family.validation)
TEST = tuple(game for family in FAMILIES for game in family.test)


def family_of(game: str) -> str:
    """Return the name of a game's family: the game's name without parameters and without ``_poker`` at its end.

    Examples:
        >>> from rlccfr.catalog.families import family_of
        >>> family_of("kuhn_poker(players=2)")
        'kuhn'
    """
    return game.split("(")[0].strip().removesuffix("_poker")
