"""Teams on disk: a NumPy archive, without pickles, of networks, experience and training state."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.agents.team.experience import Experience
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.catalog import AXES, Catalog
from rlccfr.envs.episode import CatalogLike, parse_catalog
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.reward import Preset, Weights
from rlccfr.errors import CheckpointError, RLCCFRError
from rlccfr.files import write_atomically
from rlccfr.registry import REGISTRIES

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

FORMAT = "rlccfr-team-5"
FILE_NAME = "team.npz"


def save_team(team: SelectorTeam, directory: Path, experience: bool) -> Path:
    """Save a team; see :meth:`SelectorTeam.save`."""
    env = team.env
    header = {
        "format": FORMAT,
        "catalog": {
            "hash": team.catalog.content_hash,
            "axes": team.catalog.axes,
            "versions": _versions(team.catalog),
        },
        "environment": {
            "games": env.games,
            "budget": [asdict(budget) for budget in env.budgets],
            "segments": env.segments,
            "scale": env.scale,
            "engine_seeds": env.engine_seeds,
        },
        "presets": [asdict(preset) for preset in env.presets],
        "seed": team.seed,
        "hyperparameters": asdict(team.hyperparameters),
        "generator": team.generator.bit_generator.state,
        "settled": team.settled,
        "forgotten": team.forgotten if experience else team.cost,
    }
    arrays = {"header": np.array(json.dumps(header))}
    if experience:
        arrays |= {f"experience/{name}": array for name, array in team.experience.to_arrays().items()}
    for axis, selector in zip(AXES, team.selectors, strict=True):
        arrays |= {f"{axis}/{name}": array for name, array in selector.state().items()}
        if experience:
            arrays |= {f"learning/{axis}/{name}": array for name, array in selector.learning().items()}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    path = directory / FILE_NAME
    write_atomically(path, buffer.getvalue())
    return path


def refuse_to_replace(directory: Path) -> None:
    """Refuse to train a new team in a directory where another would be overwritten.

    Raises:
        RLCCFRError: the directory holds a team.
    """
    if (directory / FILE_NAME).exists():
        raise RLCCFRError(
            f"{directory} holds a trained team: go on with it by SelectorTeam.load, remove it, or name another one"
        )


def load_team(
    path: Path, kind: type[SelectorTeam], catalog: CatalogLike | None, evaluator: str | Path | Evaluator | None
) -> SelectorTeam:
    """Load a team; see :meth:`SelectorTeam.load`."""
    wanted = None if catalog is None else parse_catalog(catalog)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise CheckpointError(f"there is no team at {path}; name the directory it was saved to")
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise CheckpointError(f"{file} has format {header['format']!r}; this version reads {FORMAT!r}")
        return _restored(kind, header, arrays, _checked_catalog(header["catalog"], wanted, file), evaluator)
    except RLCCFRError:
        raise
    except Exception as error:  # what damaged archives raise has no common base
        raise CheckpointError(f"{file} is not a whole team file; train the team again") from error


def _restored(
    kind: type[SelectorTeam],
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    catalog: Catalog,
    evaluator: str | Path | Evaluator | None,
) -> SelectorTeam:
    team = kind(
        **header["environment"],
        preset=[_preset(one) for one in header["presets"]],
        catalog=catalog,
        evaluator=evaluator,
        seed=header["seed"],
        hyperparameters=Hyperparameters(**header["hyperparameters"]),
    )
    if experience := _part(arrays, "experience"):
        team.experience = Experience.from_arrays(experience)
    evaluations, seconds = header["forgotten"]
    team.forgotten = int(evaluations), float(seconds)
    team.generator.bit_generator.state = header["generator"]
    team.settled = int(header["settled"])
    for axis, selector in zip(AXES, team.selectors, strict=True):
        selector.restore(_part(arrays, axis), _part(arrays, f"learning/{axis}"))
    return team


def _preset(saved: Mapping[str, Any]) -> Preset:
    a, b, c = (Weights(*pair) for pair in saved["weights"])
    return Preset(saved["name"], (a, b, c))


def _part(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(f"{prefix}/"): array for name, array in arrays.items() if name.startswith(f"{prefix}/")}


def _versions(catalog: Catalog) -> list[list[int]]:
    """Return the version of each component's definition, axis by axis."""
    return [[registry[id].version for id in ids] for registry, ids in zip(REGISTRIES, catalog.axes, strict=True)]


def _checked_catalog(saved: dict[str, Any], wanted: Catalog | None, file: Path) -> Catalog:
    """Return the catalog to load a team with.

    Raises:
        CheckpointError: it differs from the saved one; the message names the difference.
    """
    rules, samplers_, abstractions_ = (tuple(ids) for ids in saved["axes"])
    axes: tuple[tuple[str, ...], ...] = (rules, samplers_, abstractions_)
    catalog = wanted if wanted is not None else Catalog(rules, samplers_, abstractions_)
    if catalog.content_hash == saved["hash"]:
        return catalog
    differences = []
    versions: list[tuple[list[int], list[int]]] = list(zip(saved["versions"], _versions(catalog), strict=True))
    for axis, old, new, (before, now) in zip(AXES, axes, catalog.axes, versions, strict=True):
        differences += [f"{axis} {id!r} is new" for id in new if id not in old]
        differences += [f"{axis} {id!r} is gone" for id in old if id not in new]
        if set(old) == set(new) and old != new:
            differences.append(f"the {axis}s are in another order")
        was = dict(zip(old, before, strict=True))
        differences += [
            f"the definition of {axis} {id!r} has changed"
            for id, version in zip(new, now, strict=True)
            if was.get(id, version) != version
        ]
    raise CheckpointError(
        f"{file} was trained on another catalog: {'; '.join(differences)}. Load it with its own catalog, and use "
        "expand_team for a larger one"
    )
