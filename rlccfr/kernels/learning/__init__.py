"""Kernels between which models are fitted, and those that fit them."""
