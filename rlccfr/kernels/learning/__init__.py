"""Kernels for iterations with fitted models: the phases of an iteration, and the fitting itself."""
