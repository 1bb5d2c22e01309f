"""The team of three DQN agents that pick an algorithm, the baselines, and the tables that compare their picks.

Importing this package, or asking a saved team for a pick, loads neither torch nor Stable-Baselines3. Training loads
both.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
