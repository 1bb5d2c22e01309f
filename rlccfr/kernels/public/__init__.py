"""Kernels that pass over a public tree, for all private states of a node at once."""
