"""RLCCFR: find the CFR algorithm that solves an imperfect-information game best and fastest.

``rlccfr.reference`` is CFR as in the paper, in plain Python: start reading there.
"""

from __future__ import annotations

from importlib import import_module

import lazy_loader

__version__ = "0.1.0"

# Imports are lazy, so that `rlccfr --help` does not wait for Numba and pandas; __init__.pyi lists the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

import_module("rlccfr.envs")  # registers the environments with Gymnasium
