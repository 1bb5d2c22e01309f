"""RLCCFR: find the CFR algorithm that solves an imperfect-information game best and fastest.

``rlccfr.reference`` is CFR as in the paper, in plain Python: start reading there.

Once this package and Gymnasium are both imported, in whatever order, the environments of :mod:`rlccfr.envs` are
registered. Gymnasium itself is not imported for that, so that ``rlccfr --help`` and a solver do not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

import lazy_loader

__version__ = "0.1.0"

# Imports are lazy, so that `rlccfr --help` does not wait for Numba and pandas; __init__.pyi lists the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


class _RegisterWithGymnasium:
    """Finder that finds Gymnasium as Python does, and has the environments registered when it has been imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium":
            return None  # it is left to the next finder
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            loader = spec.loader
            run_module = loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                del loader.exec_module
                run_module(module)
                import_module("rlccfr.envs")

            loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec


if "gymnasium" in sys.modules:
    import_module("rlccfr.envs")
else:
    sys.meta_path.insert(0, _RegisterWithGymnasium())
