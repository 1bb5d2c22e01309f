"""Files that an experiment reads, but that the library does not contain, since they have no licence."""

from __future__ import annotations

import hashlib
import http.client
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from rlccfr.errors import RLCCFRError, first_line
from rlccfr.files import read_bytes, write_atomically
from rlccfr.games.cache import cache_folder

SECONDS = 30.0
"""Seconds without an answer after which a download fails."""

MOST_BYTES = 10_000_000
"""Largest number of bytes of a public file; a download stops after so many."""


@dataclass(frozen=True)
class PublicFile:
    """A public text file; it is downloaded once, unless the user has put a copy into the cache folder.

    Attributes:
        name: name in the folder :func:`~rlccfr.games.cache.cache_folder`.
        address: URL at which the file is published.
        digest: SHA-256 of its bytes, with line feeds as line ends.
    """

    name: str
    address: str
    digest: str

    @property
    def path(self) -> Path:
        """Path of the file on this machine, before and after it is downloaded."""
        return cache_folder() / self.name

    def read(self) -> str:
        """Return the text; download the file first if it is not on this machine.

        Raises:
            RLCCFRError: the file can't be downloaded or read, or differs from the file that was published; the message
                says which file to put where.
        """
        if not self.path.exists():
            write_atomically(self.path, self._downloaded(), RLCCFRError)
        try:
            data = _with_line_feeds(read_bytes(self.path))
        except OSError as error:
            raise RLCCFRError(
                f"{self.path} can't be read ({first_line(error)}): delete it, and it is downloaded again"
            ) from None
        # The user may have put the file there, so it is checked in any case.
        if not self._is_published(data):
            raise RLCCFRError(
                f"{self.path} is not the file at {self.address}: delete it, or put that file in its place"
            )
        return data.decode()

    def _downloaded(self) -> bytes:
        """Return the file's bytes from its address.

        Raises:
            RLCCFRError: the file can't be downloaded, or differs from the file that was published.
        """
        try:
            with urlopen(self.address, timeout=SECONDS) as answer:
                data: bytes = _with_line_feeds(answer.read(MOST_BYTES))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", "") or first_line(error)  # urllib wraps the network's error
            raise RLCCFRError(
                f"{self.address} can't be downloaded ({reason}): download it elsewhere, and save it as {self.path}"
            ) from None
        if not self._is_published(data):
            raise RLCCFRError(
                f"{self.address} is no longer the file with the SHA-256 {self.digest}: find that file elsewhere, and "
                f"save it as {self.path}"
            )
        return data

    def _is_published(self, data: bytes) -> bool:
        return hashlib.sha256(data).hexdigest() == self.digest


def _with_line_feeds(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")
