"""Games in which infosets are merged, and the maps from infosets to buckets."""
