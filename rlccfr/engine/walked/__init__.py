"""Runs of deep rules without tables over infosets: walks that advance together, and networks fitted to their data."""
