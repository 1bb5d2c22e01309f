"""Files of policies of games by their public tree: NumPy's format, and tables to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.errors import CheckpointError, RLCCFRError, first_line
from rlccfr.files import written_atomically
from rlccfr.games.public.view import PublicGame

if TYPE_CHECKING:
    from rlccfr.policies.public_policy import PublicPolicy

FORMAT = "rlccfr-public-policy-1"
MOST_ROWS = 2_000_000
"""Largest number of a game's table entries that are written as a table."""


def save_public_policy(policy: PublicPolicy, path: Path) -> None:
    """Write a policy to a file; see :meth:`PublicPolicy.save`."""
    if path.suffix == ".csv" and policy.game.num_sequences <= MOST_ROWS:
        with written_atomically(path) as file:
            file.write(policy.to_frame().to_csv(index=False).encode())
        return
    if path.suffix != ".npz":
        also = " or .csv" if policy.game.num_sequences <= MOST_ROWS else ""
        raise RLCCFRError(
            f"a policy of {policy.game.name!r} is written as .npz{also}, not as {path.suffix or path.name!r}"
        )
    header = {"format": FORMAT, "game": policy.game.name, "game_hash": policy.game.content_hash}
    with written_atomically(path) as file:
        np.savez(file, header=np.array(json.dumps(header)), table=policy.table)


def load_public_table(path: Path, game: PublicGame) -> np.ndarray:
    """Return the entries, (m,), that a saved policy is proportional to; see :meth:`PublicPolicy.load`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header, table = json.loads(str(archive["header"])), archive["table"]
            saved, found = header["format"], header["game_hash"]
    except OSError as error:
        raise CheckpointError(f"can't read {path} ({error.strerror}); name a file that a policy was saved to") from None
    except Exception as error:  # the errors of damaged files have no common base
        raise CheckpointError(f"{path} is not a whole policy file ({first_line(error)}); write it again") from None
    if saved != FORMAT or found != game.content_hash:
        raise CheckpointError(f"{path} is a policy of another game than {game.name!r}, or of another version of it")
    return np.asarray(table)
