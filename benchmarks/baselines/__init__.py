"""Baselines that are run only for the comparison of methods; :mod:`benchmarks.methods` lists them.

Each module has a search and its ``VERSION``. A search takes a :class:`rlccfr.agents.baselines.task.Task`, a
number of evaluations and a seed, and returns a ``SearchResult``.
"""
