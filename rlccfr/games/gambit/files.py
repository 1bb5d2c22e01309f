"""Gambit's files as games: their names, and the corresponding OpenSpiel strings."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import quote, unquote

from rlccfr.errors import GameError

LARGEST = 500_000_000
"""Largest size in bytes of a file that is read; one of that size describes more histories than fit into memory."""

SUFFIX = ".efg"
NAME = "gambit"
"""The short name under which games from Gambit files are registered with OpenSpiel."""


def is_file(name: str) -> bool:
    """Return whether a game's name has the suffix of a Gambit file."""
    return name.lower().endswith(SUFFIX)


def is_of_file(openspiel_name: str) -> bool:
    """Return whether an OpenSpiel string stands for a game from a Gambit file."""
    return openspiel_name.startswith(f"{NAME}(")


def spiel_name(path: str) -> str:
    """Return the OpenSpiel string of a file, which contains the file's name and a digest of its content.

    Raises:
        GameError: the file can't be read.
    """
    absolute = Path(path).expanduser().resolve()
    digest = digest_of(read(absolute))
    file = quote(str(absolute), safe="/")
    return f"{NAME}(digest={digest},file={file})"


def without_path(openspiel_name: str) -> str:
    """Return an OpenSpiel string without the file's path, if it stands for a game from a Gambit file."""
    return re.sub(r",file=.+\)$", ")", openspiel_name) if is_of_file(openspiel_name) else openspiel_name


def shown(name: str) -> str:
    """Return a game's display name: the name itself, unless it is the OpenSpiel string of a Gambit file's game.

    For such a string, it is the file's path as :func:`path_shown` writes it.

    Args:
        name: a name that :func:`rlccfr.load_game` accepts.
    """
    source = source_of(name)
    return name if source is None else path_shown(source)


def source_of(openspiel_name: str) -> Path | None:
    """Return the file that an OpenSpiel string's game was read from; None if it was not read from one."""
    match = re.fullmatch(rf"{NAME}\(digest=\w+,file=(.+)\)", openspiel_name)
    return None if match is None else Path(unquote(match[1]))


def refuse_source(path: Path, openspiel_name: str) -> None:
    """Raise an error if a path is the file that a game was read from, which must not be overwritten.

    Raises:
        GameError: the path is that file.
    """
    source = source_of(openspiel_name)
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise GameError(f"{path_shown(source)} is the file that the game was read from: write to another file")


def path_shown(path: Path) -> str:
    """Return a file's absolute path for display: relative to the current folder if the file is below it."""
    folder = Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def digest_of(text: str) -> str:
    """Return a digest of a file's text, which distinguishes its versions."""
    return f"x{hashlib.sha256(text.encode()).hexdigest()[:16]}"  # OpenSpiel would read digits alone as a number


def read(path: Path) -> str:
    """Return the text of a Gambit file; see :func:`read_text`."""
    return read_text(path, "a Gambit file of an extensive game")


def read_text(path: Path, kind: str) -> str:
    """Return a file's text.

    Args:
        path: the file.
        kind: what it should be, with an article, for errors.

    Raises:
        GameError: the file is missing, can't be read, is too large or is not text.
    """
    name = path_shown(path)
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise GameError(f"{name} has {size:,} bytes; files of at most {LARGEST:,} bytes can be read")
        return path.read_text(encoding="utf-8-sig")  # some Windows programs write a byte order mark
    except FileNotFoundError:
        raise GameError(f"there is no file {name}; name {kind}") from None
    except OSError as error:
        advice = "name a file" if path.is_dir() else "check its permissions"
        raise GameError(f"can't read {name} ({error.strerror}); {advice}") from None
    except UnicodeDecodeError:
        short_kind = kind.partition(" of ")[0]
        raise GameError(f"{name} is not UTF-8 text, so it is not {short_kind}; save it again as text") from None
