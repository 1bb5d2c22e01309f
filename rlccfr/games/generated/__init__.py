"""Games generated from a seed, as many as training needs; OpenSpiel loads them like its own games."""

from rlccfr.games.generated import moves, poker  # noqa: F401  (registers them with OpenSpiel)
