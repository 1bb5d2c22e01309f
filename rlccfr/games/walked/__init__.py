"""Games as walks see them: many walks at once, which move from level to level of the game."""
