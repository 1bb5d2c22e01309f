"""Games by their public tree: what both players see, with arrays over what each player alone knows."""
