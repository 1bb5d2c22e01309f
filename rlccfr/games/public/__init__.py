"""Public-tree games: what both players see, with arrays over what each player alone knows."""
