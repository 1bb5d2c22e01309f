"""Choosing an algorithm for a game that was not measured, from measurements of other games."""
