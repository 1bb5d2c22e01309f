"""Sweeps: every algorithm of a catalog measured on several games, on any executor, with every measurement kept."""
