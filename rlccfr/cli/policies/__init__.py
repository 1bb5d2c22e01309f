"""The commands on policies."""
