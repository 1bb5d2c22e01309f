"""Runs of deep rules on games that need no table: walks in step, and networks that are fitted to what they met."""
