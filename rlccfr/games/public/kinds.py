"""The forms in which a game is solved."""

from __future__ import annotations

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.view import PublicGame

Game = GameTree | PublicGame
"""A game ready to be solved: compiled history by history, or by its public tree."""
