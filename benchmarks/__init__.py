"""Commands that print figures. They run on one thread; this is set here, before NumPy is loaded."""

from __future__ import annotations

import os

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

for variable in THREAD_VARIABLES:
    os.environ.setdefault(variable, "1")
