"""Games: their names, the interface to OpenSpiel, the compiler, and the forms in which games are represented."""

from rlccfr.games.names import NAMED_GAMES, load_game, openspiel_name

__all__ = ["NAMED_GAMES", "load_game", "openspiel_name"]
