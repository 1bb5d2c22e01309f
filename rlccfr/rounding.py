"""The limit of rounding, and numbers that JSON can't hold."""

from __future__ import annotations

import math
from typing import Any

EXACT = 1e-15
"""An exploitability of at most this is 0 up to rounding; logarithmic axes begin here."""


def none_for_nan(value: Any) -> Any:
    """Return a value that JSON can hold: None for a float that is not finite, everything else as it is."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
