"""Kernels of hold'em in buckets: strengths of hands, bucket histories, and how often they meet."""
