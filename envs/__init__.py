"""Gymnasium environments in which selectors and controllers learn, and evaluators that measure algorithms for them.

Importing this module registers ``rlccfr/Selector-v0``, ``rlccfr/SelectorFlat-v0``, ``rlccfr/SelectorStage-v0`` and
``rlccfr/Control-v0`` with Gymnasium. Importing ``rlccfr`` registers them, too, as soon as Gymnasium is also imported.
The usual ways of Gymnasium work: ``import rlccfr; gymnasium.register_envs(rlccfr)``, or just
``gymnasium.make("rlccfr:rlccfr/Selector-v0")``.
"""

from __future__ import annotations

import gymnasium
import lazy_loader

# Names are imported lazily, so that registering the ids does not wait for the engine; __init__.pyi lists the names.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _id, _entry_point in (
    ("rlccfr/Selector-v0", "rlccfr.envs.selector:SelectorEnv"),
    ("rlccfr/SelectorFlat-v0", "rlccfr.envs.selector:SelectorFlatEnv"),
    ("rlccfr/SelectorStage-v0", "rlccfr.envs.stage:SelectorStageEnv"),
    ("rlccfr/Control-v0", "rlccfr.envs.control.env:ControlEnv"),
):
    if _id not in gymnasium.registry:  # Gymnasium warns of a second registration, as on a reload
        gymnasium.register(_id, entry_point=_entry_point)
