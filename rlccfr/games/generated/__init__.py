"""Games generated from seeds, to train on as many games as needed; OpenSpiel loads them like its own games."""

from rlccfr.games.generated import moves, poker  # noqa: F401  (registers them with OpenSpiel)
