"""Kernels for iterations with fitted models: the phases of an iteration, Adam's step, and reservoir sampling."""
