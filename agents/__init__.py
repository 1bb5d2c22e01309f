"""The three selectors and the team that trains them, the baselines, and the tables that compare them.

Importing this package loads neither torch nor Stable-Baselines3, nor does asking a trained team. Training loads both.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
