"""Kernels for hold'em in buckets: passes over bucket histories."""
