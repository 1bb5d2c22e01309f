"""RLCCFR: find the CFR algorithm that solves an imperfect-information game best and fastest.

``rlccfr.reference`` is CFR as in the paper, in plain Python: start reading there.

Once this package and Gymnasium are both imported, in whatever order, the environments of :mod:`rlccfr.envs` are
registered. This package does not import Gymnasium for this purpose, so that ``rlccfr --help`` and a solver do not wait
for it.
"""

from __future__ import annotations

import lazy_loader

from rlccfr.registration import register_with_gymnasium

__version__ = "0.1.0"

# Imports are lazy, so that `rlccfr --help` does not wait for Numba and pandas; __init__.pyi lists the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

register_with_gymnasium()
