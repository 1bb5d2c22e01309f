"""Peers from PyPI, each in an environment of its own, with the newest releases that one Python accepts.

Their requirements contradict each other: one needs an older JAX than another, and noregret needs Python 3.12. So
``python -m benchmarks.peers`` makes a virtual environment for each peer in .venv-peers. There,
:mod:`benchmarks.contenders` runs its algorithms by ``server.py``, which imports nothing of this project. A peer that
can't be installed or fails is named with its error.
"""
