"""Numbers that rounding makes, and how they are told."""

from __future__ import annotations

import math
from typing import Any

EXACT = 1e-15
"""An exploitability at or below this is 0 but for rounding; logarithmic axes begin here."""


def none_for_nan(value: Any) -> Any:
    """Return a value as JSON has it: None for floats that are not finite, everything else as it is."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
