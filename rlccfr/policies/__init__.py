"""Policies of public-tree games; and files, lists, matches, gains and pictures of policies."""
