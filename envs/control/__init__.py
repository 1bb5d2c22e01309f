"""Runs under a controller, as an environment and for training."""
