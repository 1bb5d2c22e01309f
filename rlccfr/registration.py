"""Registration of the environments with Gymnasium, which is slow to import and not needed by most programs.

Python has no way to say "once this module has been imported". So the hook below is a finder of modules, which leaves
all modules except Gymnasium to the next finder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

ENVIRONMENTS = "rlccfr.envs"
"""The module whose import registers the environments."""


def register_with_gymnasium() -> None:
    """Register the environments now if Gymnasium has been imported; otherwise, once it has been imported."""
    if "gymnasium" in sys.modules:
        import_module(ENVIRONMENTS)
    else:
        sys.meta_path.insert(0, _AfterGymnasium())


class _AfterGymnasium:
    """Finder that finds Gymnasium as Python does, and registers the environments once Gymnasium has been imported.

    Programs also look for Gymnasium without importing it. So the finder stays until Gymnasium has run.
    """

    def __init__(self) -> None:
        self._is_searching = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium" or self._is_searching:
            return None  # left to the next finder
        self._is_searching = True
        try:
            spec = find_spec(name)
        finally:
            self._is_searching = False
        if spec is not None and spec.loader is not None:
            loader = spec.loader
            run_module = loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                del loader.exec_module
                run_module(module)
                with suppress(ValueError):  # a program may have changed the list
                    sys.meta_path.remove(self)
                import_module(ENVIRONMENTS)

            loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
