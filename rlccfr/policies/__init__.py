"""Policies of games that are not compiled; and files, lists, matches, gains and pictures of policies."""
