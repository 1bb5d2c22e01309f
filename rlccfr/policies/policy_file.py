"""Policies on disk: CSV and JSON for readers and programs, NumPy's format for large games, and Gambit's files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlccfr.archives import archive_of, check_format, opened_archive
from rlccfr.errors import CheckpointError, GameError, PolicyError, RLCCFRError, brief, what_failed
from rlccfr.files import read_bytes, write_atomically
from rlccfr.games.flat_tree import GameTree, checked_tree

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.game import Game
    from rlccfr.policy import Policy

FORMAT = "rlccfr-policy-1"
"""Name and version of the format, in a file's header; a .csv file has no such header."""

MATRIX = "matrix_"
"""Prefix of the names of matrix games, which are known in only one process."""

HASH = "game_hash"
"""Name of the column or field with the game's content hash, which distinguishes versions of a game."""

GAME = "game"
"""Name of the column or field with the name by which the game is loaded."""

IDENTITY = ["player", "infoset", "action"]
"""Columns that identify a probability."""

ACTION_NAME = "action_name"
"""Name of the column with the names of actions, which a file need not have."""


class Saved(NamedTuple):
    """The content of a policy's file.

    Attributes:
        game: name by which its game is loaded; None in files of earlier versions, which did not write it.
        hash: the game's content hash.
        rows: function that is given the game, and returns a table with the column ``probability`` and, in some formats,
            columns that identify its rows.
    """

    game: str | None
    hash: str
    rows: Callable[[GameTree], pd.DataFrame]


def checked_path(path: str | Path) -> Path:
    """Return a path after checking that its suffix names a format of policies.

    Raises:
        RLCCFRError: the suffix does not name a format.
    """
    path = Path(path)
    if path.is_dir():
        raise RLCCFRError(f"{path} is a directory; name a policy's file, such as policy.npz")
    if path.suffix not in _WRITERS:
        raise RLCCFRError(f"a policy's file ends with {', '.join(_WRITERS)}, not with {path.suffix or path.name!r}")
    return path


def save_policy(policy: Policy, path: Path) -> None:
    """Write a policy to a file; see :meth:`Policy.save`."""
    from rlccfr.games.gambit.files import refuse_source

    refuse_source(path, policy.game.openspiel_name)
    write_atomically(path, _WRITERS[checked_path(path).suffix](policy), CheckpointError)


def load_policy(path: Path, kind: type[Policy], game: GameTree | None) -> Policy:
    """Read a policy from a file; see :meth:`Policy.load`."""
    tree = None if game is None else checked_tree(game, "Policy.load")
    saved = _read(path)
    game = _game_of(path, saved) if tree is None else tree
    rows = _rows_for(path, saved, game)
    if not _are_whole(rows, game):
        raise CheckpointError(
            f"the infosets and actions in {path} must be exactly those of {game.name!r}, in the game's order"
        )
    return _whole(path, kind, game, rows)


def part_of_policy(path: Path, kind: type[Policy], game: GameTree) -> Policy | dict[tuple[int, str], dict[int, float]]:
    """Read a file that holds a policy of a game at some or all of its infosets.

    Returns:
        The policy if the file has all infosets; otherwise the probability of each action, by player and infoset.

    Raises:
        CheckpointError: the file is missing or damaged, for another game or version of it, or has an action twice.
        PolicyError: the file has all infosets, and the numbers are not probabilities.
    """
    rows = _rows_for(path, _read(path), game)
    if _are_whole(rows, game):
        return _whole(path, kind, game, rows)
    if any(column not in rows for column in IDENTITY):  # only a whole policy's rows need not say what they are
        raise CheckpointError(f"{path} has {len(rows):,} rows, not the game's {game.num_sequences:,}; write it again")
    part: dict[tuple[int, str], dict[int, float]] = {}
    columns = [rows[name].tolist() for name in (*IDENTITY, "probability")]
    for player, infoset, action, probability in zip(*columns, strict=True):
        if player not in (0, 1):
            raise CheckpointError(f"{path} has a row of player {player}; players are 0 and 1")
        by_action = part.setdefault((player, infoset), {})
        if action in by_action:
            raise CheckpointError(
                f"{path} has the action {action} of the infoset {brief(infoset)} twice; if several infosets share this "
                "name, the file must have every infoset of the game"
            )
        by_action[action] = probability
    return part


def _rows_for(path: Path, saved: Saved, game: GameTree) -> pd.DataFrame:
    """Return a file's rows, with the probabilities converted to numbers.

    Raises:
        CheckpointError: the file is for another game, or damaged, or an action's name contradicts its number.
    """
    if saved.hash != game.content_hash:
        raise of_another_game(path, saved.game, game)
    try:
        rows = saved.rows(game)
        rows = rows.assign(probability=rows["probability"].to_numpy(float))
        if ACTION_NAME in rows and any(rows[ACTION_NAME].tolist()):
            _check_action_names(path, rows, game)
        return rows
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:  # the errors of damaged files have no common base
        raise damaged(path, error) from error


def _check_action_names(path: Path, rows: pd.DataFrame, game: GameTree) -> None:
    """Refuse a file in which an action has the name of another action of its infoset.

    Names that no action of the infoset has are ignored, since another version of OpenSpiel may have other names.

    Raises:
        CheckpointError: there is such an action.
    """
    from rlccfr.games.openspiel_policies import sequence_names
    from rlccfr.policy import Policy

    try:
        names = sequence_names(game)
    except GameError:  # OpenSpiel does not know the game in this process
        return
    names_by_action: dict[tuple[int, str], dict[int, set[str]]] = {}
    expected = Policy.uniform(game).to_frame()[IDENTITY].itertuples(index=False, name=None)
    for (player, infoset, action), name in zip(expected, names, strict=True):
        names_by_action.setdefault((player, infoset), {}).setdefault(action, set()).add(name)
    told = rows[[*IDENTITY, ACTION_NAME]].itertuples(index=False, name=None)
    for player, infoset, action, name in told:
        names_there = names_by_action.get((player, infoset), {})
        right_names = names_there.get(action, {name})
        if name not in right_names and any(name in others for others in names_there.values()):
            raise CheckpointError(
                f"{path} calls action {action} at {brief(infoset)} {brief(name)}, but its name is "
                f"{brief(min(right_names))}: correct the name or the number, or leave out all names"
            )


def _are_whole(rows: pd.DataFrame, game: GameTree) -> bool:
    """Return whether a file's rows are exactly those of a game's infosets and actions, in the game's order.

    Only the columns that a format has are compared.
    """
    from rlccfr.policy import Policy

    expected = Policy.uniform(game).to_frame()
    return all(rows[name].tolist() == expected[name].tolist() for name in IDENTITY if name in rows)


def _whole(path: Path, kind: type[Policy], game: GameTree, rows: pd.DataFrame) -> Policy:
    """Return the policy of a file with all infosets.

    Raises:
        PolicyError: the numbers are not probabilities.
    """
    try:
        return kind(game, rows["probability"].to_numpy())
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None


def of_another_game(path: Path, named: str | None, game: Game) -> CheckpointError:
    """Return the error for a file whose policy is for another game, or for another version of the game.

    Args:
        path: the file.
        named: name of the game in the file; None if the file does not name its game.
        game: the game that the policy should be for.
    """
    from rlccfr.games.gambit.files import shown
    from rlccfr.games.names import short_name

    name_in_file = game.name if named is None else shown(short_name(named))
    if name_in_file == game.name and game.lock is not None:
        return CheckpointError(f"{path} is a policy of {game.name!r} without its lock: name the game without a lock")
    if name_in_file == game.name:
        return CheckpointError(
            f"{path} is a policy of another version of {game.name!r}, since its {HASH} differs: solve the game again"
        )
    return CheckpointError(
        f"{path} is a policy of {brief(name_in_file)}, not of {game.name!r}: name that game, or another file"
    )


def _read(path: Path) -> Saved:
    """Read a file in any of the formats.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    read = _READERS[checked_path(path).suffix]
    try:
        data = read_bytes(path)
    except OSError as error:
        raise CheckpointError(f"can't read {path} ({error.strerror}); give a file that a policy was saved to") from None
    try:
        return read(data, path)
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:  # the errors of damaged files have no common base
        raise damaged(path, error) from error


def read_policy_archive(path: Path, format: str, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header of a policy's .npz file, and its arrays by name.

    Args:
        path: the file.
        format: the expected format; see :func:`rlccfr.archives.check_format`.
        kind: what the file should hold, for messages.

    Raises:
        CheckpointError: the file is missing, damaged, or in another format.
    """
    try:
        with opened_archive(path) as archive:
            header = json.loads(str(archive["header"]))
            check_format(header["format"], format, path, kind)
            return header, {name: np.asarray(archive[name]) for name in archive if name != "header"}
    except OSError as error:
        raise CheckpointError(f"can't read {path} ({error.strerror}); give a file that a policy was saved to") from None
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:  # the errors of damaged files have no common base
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> CheckpointError:
    """Return the error for a file that is damaged.

    Args:
        path: the file.
        error: the error that reading it raised.
    """
    return CheckpointError(f"{path} is not a complete policy file ({what_failed(error)}); write it again")


def _game_of(path: Path, saved: Saved) -> GameTree:
    """Load the game that a file names.

    If the game's hash differs from the hash in the file, two other games are tried: the named game with recall
    restored, and, for a Gambit file, the game in the file itself. If none of them has the hash, the first game that
    could be loaded is returned.

    Raises:
        CheckpointError: the file does not name its game, or none of the games can be loaded.
    """
    from rlccfr.games.gambit.files import is_file
    from rlccfr.games.names import load_game, short_name

    if saved.game is None:
        raise CheckpointError(
            f"{path} was written by an older version and does not name its game: pass the game (--game)"
        )
    name = short_name(saved.game)
    attempts: list[tuple[str, bool | None]] = [(name, None), (name, True)]
    if name != saved.game:  # a game of the user's may have the name of the game that the short name stands for
        attempts.append((saved.game, None))
    if path.suffix == ".efg":
        attempts.append((str(path), None))
    games: list[GameTree] = []
    faults: list[str] = []
    for source, restore_recall in attempts:
        try:
            game: GameTree = load_game(source, restore_recall=restore_recall)
        except GameError as error:
            faults.append(str(error))
            continue
        if game.content_hash == saved.hash:
            return game
        games.append(game)
    if not games and saved.game.startswith(MATRIX):
        raise CheckpointError(
            f"{path} is a policy of a matrix game, which has no name: pass the game to rlccfr.Policy.load, or save the "
            "policy as .efg, since such a file also contains the game"
        )
    if not games:
        advice = "solve the game again" if is_file(name) else "pass the game (--game)"
        raise CheckpointError(f"the game of {path} can't be loaded here ({faults[0]}): {advice}")
    return games[0]  # another version of the game, which the caller reports


def _to_csv(policy: Policy) -> bytes:
    game = policy.game
    frame = _with_action_names(policy).assign(**{HASH: game.content_hash, GAME: game.openspiel_name})
    return str(frame.to_csv(index=False)).encode()


def _from_csv(data: bytes, path: Path) -> Saved:
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    for name in (*IDENTITY, "probability"):
        if name not in frame:
            raise ValueError(f"it has no column {name!r}")
    if HASH not in frame:
        raise CheckpointError(
            f"{path} does not say which game it is for; for hold'em and Bluff, give the policy's .npz file"
        )
    if not len(frame):
        raise ValueError("it has no rows")
    games = frame[[name for name in (HASH, GAME) if name in frame]].drop_duplicates()
    if len(games) > 1:
        raise ValueError("its rows name different games; the last row may be cut short")
    content_hash = games.iloc[0][HASH]
    game = games.iloc[0].get(GAME)
    numbers = {name: frame[name].map(int) for name in ("player", "action")}
    # float() rounds to the nearest number; the reader of pandas does so only in some versions.
    rows = frame.assign(**numbers, probability=frame["probability"].map(float))
    return Saved(game, content_hash, lambda _: rows)


def _to_json(policy: Policy) -> bytes:
    game = policy.game
    frame = _with_action_names(policy).rename(columns={ACTION_NAME: "name"})
    actions = frame[["action", "name", "probability"]].to_dict("records")
    players = frame["player"].tolist()
    infosets = []
    for infoset, key in enumerate(game.infoset_keys):
        rows = game.infoset_sequences(infoset)
        infosets.append({"player": players[rows.start], "infoset": key, "actions": actions[rows]})
    return json.dumps({**_header(game), "infosets": infosets}, indent=1).encode()


def _from_json(data: bytes, path: Path) -> Saved:
    import pandas as pd

    saved = _checked(json.loads(data), path)
    rows = [
        (infoset["player"], infoset["infoset"], action["action"], action.get("name") or "", action["probability"])
        for infoset in saved["infosets"]
        for action in infoset["actions"]
    ]
    frame = pd.DataFrame(rows, columns=[*IDENTITY, ACTION_NAME, "probability"])
    return Saved(saved[GAME], saved[HASH], lambda _: frame)


def _to_npz(policy: Policy) -> bytes:
    game = policy.game
    arrays = {
        "header": np.array(json.dumps(_header(game))),
        "action": game.sequence_action,
        "probability": policy.probabilities,
    }
    return archive_of(arrays, compress=True)


def _from_npz(data: bytes, path: Path) -> Saved:
    import pandas as pd

    with opened_archive(io.BytesIO(data)) as archive:
        saved = _checked(json.loads(str(archive["header"])), path)
        frame = pd.DataFrame({name: archive[name] for name in ("action", "probability")})
        return Saved(saved[GAME], saved[HASH], lambda _: frame)


def _to_efg(policy: Policy) -> bytes:
    from rlccfr.games.gambit.files import digest_of
    from rlccfr.games.gambit.writer import nodes_of, profile, to_efg

    game = policy.game
    nodes = nodes_of(game)
    header = f"{FORMAT} {HASH}={game.content_hash} nodes={digest_of(nodes.rstrip())} {GAME}={game.openspiel_name}"
    return to_efg(game, f"{header}\n{profile(game, policy.probabilities)}", nodes).encode()


def _from_efg(data: bytes, path: Path) -> Saved:
    from rlccfr.games.gambit.files import digest_of
    from rlccfr.games.gambit.reader import comment_of
    from rlccfr.games.gambit.writer import read_profile

    comment, nodes = comment_of(data.decode(), "the file")
    header, _, probabilities = comment.partition("\n")
    match = re.fullmatch(rf"{FORMAT} {HASH}=(\w+) nodes=(\w+) {GAME}=(.+)", header)
    if match is None:
        raise CheckpointError(f"{path} has a game but no policy; `rlccfr solve` finds a policy")
    content_hash, digest, name = match.groups()
    # The header's hash is that of the solved game, so only the digest shows that nodes were edited.
    if digest_of(nodes) != digest:
        raise ValueError("its nodes have changed since it was written")

    # The profile can be read only with the game at hand.
    def rows(game: GameTree) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"probability": read_profile(game, probabilities)})

    return Saved(name, content_hash, rows)


def _with_action_names(policy: Policy) -> pd.DataFrame:
    """Return :meth:`Policy.to_frame` with OpenSpiel's name of each action."""
    from rlccfr.games.openspiel_policies import sequence_names

    frame = policy.to_frame()
    frame.insert(len(IDENTITY), ACTION_NAME, sequence_names(policy.game))
    return frame


def _header(game: GameTree) -> dict[str, str]:
    return {"format": FORMAT, GAME: game.openspiel_name, HASH: game.content_hash}


def _checked(saved: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    check_format(saved["format"], FORMAT, path, "compiled-game policy")
    return saved


_WRITERS: Mapping[str, Callable[[Policy], bytes]] = {
    ".csv": _to_csv,
    ".json": _to_json,
    ".npz": _to_npz,
    ".efg": _to_efg,
}
_READERS: Mapping[str, Callable[[bytes, Path], Saved]] = {
    ".csv": _from_csv,
    ".json": _from_json,
    ".npz": _from_npz,
    ".efg": _from_efg,
}
