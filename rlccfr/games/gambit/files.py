"""Names of Gambit's files as names of games."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import quote

from rlccfr.games.gambit import reader

SUFFIX = ".efg"
NAME = "gambit"
"""OpenSpiel's short name of these games."""


def is_file(name: str) -> bool:
    """Return whether a game's name is that of a Gambit file."""
    return name.endswith(SUFFIX)


def spiel_name(path: str) -> str:
    """Return the OpenSpiel string of a file: it has the file's name, and a digest of the content.

    Raises:
        GameError: the file can't be read.
    """
    whole = Path(path).expanduser().resolve()
    return f"{NAME}(digest={digest_of(reader.read(whole))},file={quote(str(whole), safe='/')})"


def digest_of(text: str) -> str:
    """Return a digest of a file's text, which tells its versions apart."""
    return f"x{hashlib.sha256(text.encode()).hexdigest()[:16]}"  # OpenSpiel would take digits alone for a number
