"""Hold'em in buckets: the abstract game in which a player knows the betting and the buckets its hand has been in."""
