"""Measurements: the requests for them, the evaluators that answer, and the store that keeps the answers."""
