"""Iterations whose policies come from models: the stepper, its phases, and each player's models."""
