"""Kernels that choose the weights of a blend of policies."""
