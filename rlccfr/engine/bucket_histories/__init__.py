"""Runs on hold'em in buckets: their tables, their iterations and the values of their policies."""
