"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import sys
from pathlib import Path

EVALUATION = ("passes/sequence_form.py", "sequence_form.evaluate-*")
PASSES = ("passes/exact_iterations.py", "exact_iterations.exact_iterations-*")
WALKS = ("walks/sampled_iterations.py", "sampled_iterations.sampled_iterations-*")
PUBLIC = ("public/public_iterations.py", "public_iterations.*")
"""The groups of kernels that take longest to compile: a module, and a pattern for the names of its compiled files."""


def prepare_cache() -> None:
    """Tidy the cache of compiled kernels, and announce the compilation of those that all runs need."""
    from rlccfr.kernels.cache import drop_unused
    from rlccfr.kernels.jit import UNJITTED

    if not UNJITTED:
        drop_unused()
        announce(EVALUATION, "games as trees")


def is_compiled(kernels: tuple[str, str]) -> bool:
    """Return whether any compiled form of these kernels is in the cache.

    Args:
        kernels: :data:`EVALUATION`, :data:`PASSES`, :data:`WALKS` or :data:`PUBLIC`.
    """
    from rlccfr.kernels.cache import folder_of

    module, pattern = kernels
    return any(path.suffix == ".nbc" for path in folder_of(Path(__file__).parent / module).glob(pattern))


def announce(kernels: tuple[str, str], use: str) -> None:
    """If kernels are not compiled yet, print why their first use takes a while.

    Args:
        kernels: as for :func:`is_compiled`.
        use: what the kernels are for, as the message says it.
    """
    from rlccfr.kernels.jit import UNJITTED

    if not (UNJITTED or is_compiled(kernels)):
        print(f"rlccfr: compiling its kernels for {use}, once on this machine (10 to 15 seconds)", file=sys.stderr)
