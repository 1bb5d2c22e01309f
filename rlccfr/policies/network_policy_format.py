"""The format of files with policies of networks; commands tell such files from others without loading PyTorch."""

from __future__ import annotations

from pathlib import Path

from rlccfr.archives import has_format

FORMAT = "rlccfr-network-policy-2"
"""Name and version of the format, in a file's header."""

SINGLE_FORMAT = "rlccfr-network-policy-1"
"""An earlier format, in which each player has a single model."""


def is_network_policy(path: Path) -> bool:
    """Return whether a file can be read and its header is that of networks."""
    return has_format(path, FORMAT) or has_format(path, SINGLE_FORMAT)
