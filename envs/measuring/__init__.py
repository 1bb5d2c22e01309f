"""Measurements: requests for them, evaluators that answer the requests, and the store that keeps the answers."""
