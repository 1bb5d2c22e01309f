"""Games as public trees: a tree of what both players see, with arrays over what each player alone knows."""
