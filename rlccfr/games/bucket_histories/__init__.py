"""Hold'em in buckets, in which a player knows the betting and its own bucket history, and nothing else."""
