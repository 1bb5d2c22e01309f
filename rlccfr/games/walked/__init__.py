"""Games for algorithms in which many walks go down the game tree at once, one level at a time."""
