"""Values of policies over a public tree."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.public.memory import PublicMemory
from rlccfr.kernels.public.public_iterations import public_value

_memories: WeakKeyDictionary[PublicGame, dict[np.dtype, PublicMemory]] = WeakKeyDictionary()


def memory_of(game: PublicGame, dtype: np.dtype) -> PublicMemory:
    """Return a game's working memory, which all runs and evaluations in one precision share.

    Kernels hold the GIL, so only one thread at a time uses it.
    """
    own = _memories.setdefault(game, {})
    if dtype not in own:
        own[dtype] = PublicMemory.of(game, dtype)
    return own[dtype]


def public_values(game: PublicGame, table: np.ndarray, *, mean: bool = True) -> tuple[float, float, float]:
    """Return player 0's value of a policy, and each player's value of a best response to it, in the game's units.

    Args:
        table: (m,) entries that the policy is proportional to, by their positive parts; uniform where these are 0.
        mean: whether to compute the first value, which takes as long as another one; NaN if not.
    """
    memory = memory_of(game, table.dtype)
    first, second = (public_value(game.view, i, table, memory, game.mass[i], True) * game.unit for i in range(2))
    value = public_value(game.view, 0, table, memory, game.mass[0], False) * game.unit if mean else np.nan
    return value, first, second
