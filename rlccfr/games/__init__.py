"""Games: their names, the interface to OpenSpiel, the compiler, and the flat tree that everything else reads."""

from rlccfr.games.names import NAMED_GAMES, load_game, openspiel_name

__all__ = ["NAMED_GAMES", "load_game", "openspiel_name"]
