"""Gambit's files of extensive games, ``.efg``: reading them as games that OpenSpiel plays, and writing them."""
