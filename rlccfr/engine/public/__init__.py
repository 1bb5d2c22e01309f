"""Runs over public trees: their tables, their iterations and the values of their policies."""
