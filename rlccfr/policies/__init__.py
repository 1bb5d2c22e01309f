"""Policies of games by their public tree, and files of policies."""
