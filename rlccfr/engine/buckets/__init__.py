"""Runs over buckets: their values in the game itself, and best responses there."""
