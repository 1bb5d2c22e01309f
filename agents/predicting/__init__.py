"""Choosing an algorithm for a game that was not measured, by regression on games that were."""
