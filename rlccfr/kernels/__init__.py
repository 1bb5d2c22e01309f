"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import sys
from pathlib import Path


def announce_first_compilation() -> None:
    """Say why the first use takes a while, on stderr, where no cache is found."""
    from numba import config

    folder = Path(getattr(config, "CACHE_DIR", "") or Path(__file__).parent / "__pycache__")
    if not any(folder.rglob("sampled.sampled_iterations-*.nbi")):
        print("rlccfr: compiling its kernels, once on this machine (about 20 seconds)", file=sys.stderr)
