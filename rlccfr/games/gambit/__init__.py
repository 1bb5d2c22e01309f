"""Games in Gambit's files of extensive games, ``.efg``, which OpenSpiel plays like its own; and such files of games."""
