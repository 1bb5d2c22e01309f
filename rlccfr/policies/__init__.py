"""Policies of public-tree games, and files of policies."""
