"""Sweeps: every algorithm of a catalog is measured on several games, on any executor, and every result is kept."""
