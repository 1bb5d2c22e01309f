"""Baselines that only the comparison of methods runs: :mod:`benchmarks.methods` lists them.

Each module has a search and the search's ``VERSION``. A search takes a :class:`rlccfr.agents.baselines.task.Task`, a
number of evaluations and a seed, and returns a ``SearchResult``.
"""
