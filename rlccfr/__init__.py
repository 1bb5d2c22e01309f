"""RLCCFR: find the CFR algorithm that solves an imperfect-information game best and fastest."""

from __future__ import annotations

import importlib
import os
import sys

import lazy_loader

__version__ = "0.1.0"

# Imports are lazy, so that `rlccfr --help` does not wait for Numba and pandas; __init__.pyi lists the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

if os.path.basename(next(iter(sys.argv), "")) not in ("rlccfr", "-m"):
    # Register the environments for every other program. The command line imports Gymnasium only when it needs it.
    importlib.import_module("rlccfr.envs")
