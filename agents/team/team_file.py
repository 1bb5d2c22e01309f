"""Teams on disk: a NumPy archive, without pickles, of networks, experience and training state."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlccfr.agents.control.directory import holds_controller
from rlccfr.agents.team.experience import Experience
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.selector import with_prefix
from rlccfr.archives import archive_of, check_format, opened_archive, read_archive
from rlccfr.catalog import AXES, Catalog
from rlccfr.components.text import parse
from rlccfr.envs.episode import CatalogLike, parse_catalog
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.identity import unversioned
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset, Weights
from rlccfr.errors import CheckpointError, ComponentError, GameError, RLCCFRError, what_failed
from rlccfr.files import write_atomically
from rlccfr.games.compiled_games import measured_name
from rlccfr.plugins import origin
from rlccfr.registry import REGISTRIES

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

FORMAT = "rlccfr-team-6"
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
            "code": _code(team.catalog),
            "origins": _origins(team.catalog),
        },
        "environment": {
            "games": env.games,
            "budget": [asdict(budget) for budget in env.budgets],
            "segments": env.segments,
            "engine_seeds": env.engine_seeds,
        },
        "contents": env.contents,
        "presets": [asdict(preset) for preset in env.presets],
        "seed": team.seed,
        "hyperparameters": asdict(team.hyperparameters),
        "generator": team.generator.bit_generator.state,
        "settled": team.settled,
        # Evaluations count even if the experience from them is not saved.
        "forgotten": team.forgotten if experience else team.cost,
    }
    arrays = {"header": np.array(json.dumps(header))}
    if experience:
        arrays |= {f"experience/{name}": array for name, array in team.experience.to_arrays().items()}
    for axis, selector in zip(AXES, team.selectors, strict=True):
        arrays |= {f"{axis}/{name}": array for name, array in selector.state().items()}
        if experience:
            arrays |= {f"learning/{axis}/{name}": array for name, array in selector.learning().items()}
    path = directory / FILE_NAME
    write_atomically(path, archive_of(arrays, compress=True))
    return path


class Situations(NamedTuple):
    """What a saved team was trained on; the team may pick for other situations, too."""

    games: tuple[str, ...]
    budgets: tuple[Budget, ...]
    presets: tuple[Preset, ...]


def learned_on(file: Path) -> Situations | None:
    """Return what a saved team was trained on; None if the file is not a readable team file."""
    try:
        with opened_archive(file) as archive:
            header = json.loads(str(archive["header"]))
        environment = header["environment"]
        budgets = tuple(Budget(**budget) for budget in environment["budget"])
        return Situations(tuple(environment["games"]), budgets, tuple(map(_preset, header["presets"])))
    except Exception:  # the errors of damaged archives have no common base class; there is no training to report
        return None


def refuse_others(team: SelectorTeam, directory: Path) -> None:
    """Check that a team may be trained in a directory: it must hold no controller, and no team that would be lost.

    Raises:
        RLCCFRError: the directory holds a controller or another team.
    """
    if holds_controller(directory):
        raise RLCCFRError(f"{directory} holds a controller, whose log would be lost; choose another directory (--out)")
    if directory.resolve() not in (team.directory, team.saved_in) and (directory / FILE_NAME).exists():
        raise RLCCFRError(
            f"{directory} holds a trained team: load it with SelectorTeam.load to continue, remove it, or choose "
            "another directory"
        )


def load_team(
    path: Path, kind: type[SelectorTeam], catalog: CatalogLike | None, evaluator: str | Path | Evaluator | None
) -> SelectorTeam:
    """Load a team; see :meth:`SelectorTeam.load`."""
    requested_catalog = None if catalog is None else parse_catalog(catalog)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise CheckpointError(f"there is no team at {path}; give the directory that a team was saved to")
    try:
        arrays = read_archive(file)
        header = json.loads(str(arrays["header"]))
        check_format(header["format"], FORMAT, file, "team")
        checked_catalog = _checked_catalog(header["catalog"], requested_catalog, file)
        team = _restored(kind, header, arrays, checked_catalog, evaluator)
    except (ComponentError, GameError) as error:
        raise CheckpointError(f"{file} can't be loaded here: {error}") from None
    except RLCCFRError:
        raise
    except Exception as error:  # the errors of damaged archives have no common base class
        raise CheckpointError(
            f"{file} is not a complete team file ({what_failed(error)}); train the team again with `rlccfr train` and "
            "--fresh"
        ) from error
    team.directory = path.resolve() if path.is_dir() else None
    return team


def _restored(
    kind: type[SelectorTeam],
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    catalog: Catalog,
    evaluator: str | Path | Evaluator | None,
) -> SelectorTeam:
    """Return the team that a file describes.

    Args:
        kind: class of the team.
        header, arrays: contents of the file.
        catalog: algorithms to choose from.
        evaluator: evaluator of the team.

    Raises:
        CheckpointError: the file of one of the team's games has changed.
    """
    for game, content in header.get("contents", {}).items():  # earlier files have none
        if measured_name(game) != content:
            raise CheckpointError(
                f"{game} has changed since the team was trained on it: restore the file, or train the team again with "
                "`rlccfr train` and --fresh"
            )
    team = kind(
        **header["environment"],
        preset=list(map(_preset, header["presets"])),
        catalog=catalog,
        evaluator=evaluator,
        seed=header["seed"],
        hyperparameters=Hyperparameters(**header["hyperparameters"]),
    )
    if experience := with_prefix(arrays, "experience/"):
        team.experience = Experience.from_arrays(experience)
    evaluations, seconds = header["forgotten"]
    team.forgotten = int(evaluations), float(seconds)
    # A team that was saved with its experience goes on as if it had never been saved.
    team.generator.bit_generator.state = header["generator"]
    team.settled = int(header["settled"])
    for axis, selector in zip(AXES, team.selectors, strict=True):
        selector.restore(with_prefix(arrays, f"{axis}/"), with_prefix(arrays, f"learning/{axis}/"))
    return team


def _preset(saved: Mapping[str, Any]) -> Preset:
    """Return the reward weights that a header describes."""
    a, b, c = (Weights(*pair) for pair in saved["weights"])
    return Preset(saved["name"], (a, b, c), saved["scale"])


def _versions(catalog: Catalog) -> list[list[int]]:
    """Return the version of each component's definition, axis by axis."""
    return [[registry[id].version for id in ids] for registry, ids in zip(REGISTRIES, catalog.axes, strict=True)]


def _code(catalog: Catalog) -> list[list[str]]:
    """Return a digest of each component's source or file, axis by axis; ``""`` if its version number says enough."""
    return [[unversioned(registry[id]) for id in ids] for registry, ids in zip(REGISTRIES, catalog.axes, strict=True)]


def _origins(catalog: Catalog) -> dict[str, str]:
    """Return the file or module that registers each third-party component."""
    return {
        f"{axis} {id!r}": origin(registry[id].factory)
        for axis, registry, ids in zip(AXES, REGISTRIES, catalog.axes, strict=True)
        for id in ids
        if registry[id].code
    }


def _checked_catalog(saved: Mapping[str, Any], requested: Catalog | None, file: Path) -> Catalog:
    """Return the catalog to load a team with.

    Raises:
        CheckpointError: the requested catalog differs from the saved one, a component is not registered, or the version
            or the source of a component has changed; the message names the difference.
    """
    axes = [tuple(ids) for ids in saved["axes"]]
    # This comes first, because the catalog's own error would not say which code registers a component.
    if requested is None:
        _require_registered(axes, saved.get("origins", {}), file)
    catalog = requested if requested is not None else Catalog(*axes)
    if catalog.content_hash != saved["hash"]:
        raise CheckpointError(
            f"the team in {file} was trained on another catalog: {'; '.join(_differences(saved, axes, catalog))}. Load "
            "it with its own catalog, and use expand_team for a larger one"
        )
    # The hash covers ids and versions, but not third-party code and controllers' files, which have no version.
    changed = [
        f"{axis} {id!r}"
        for axis, ids, old_code, new_code in zip(AXES, axes, saved.get("code", ()), _code(catalog), strict=False)
        for id, old, new in zip(ids, old_code, new_code, strict=True)
        if old and old != new
    ]
    if changed:
        raise CheckpointError(
            f"the source or file of {', '.join(changed)} has changed since the team in {file} was trained: undo the "
            "change, or train the team again with `rlccfr train` and --fresh"
        )
    return catalog


def _require_registered(axes: Sequence[Sequence[str]], origins: Mapping[str, str], file: Path) -> None:
    """Check that a team's components are registered.

    Raises:
        CheckpointError: a component is not registered; the message names all such components, and what registers them.
    """
    absent = [
        f"{axis} {id!r}"
        for axis, registry, ids in zip(AXES, REGISTRIES, axes, strict=True)
        for id in ids
        if parse(id)["id"] not in registry
    ]
    if not absent:
        return
    # Components without an origin are the library's own, which no user's file can register.
    if library_components := [name for name in absent if name not in origins]:
        raise CheckpointError(
            f"{file} picks among components that this version of rlccfr does not have: "
            f"{', '.join(library_components)}. Install the version that trained the team, or a newer one"
        )
    named = [f"{name} of {origins[name]}" if origins[name] else name for name in absent]
    options = dict.fromkeys(_option(origins[name]) for name in absent)
    raise CheckpointError(
        f"{file} picks among components that are not registered: {', '.join(named)}. Load the code that registers them "
        f"with `rlccfr {' '.join(options)} ...`, or import it in Python"
    )


def _option(origin: str) -> str:
    """Return the ``rlccfr`` option that loads a file or module; ``--load FILE`` if the file can't be found."""
    if origin and not origin.endswith(".py"):
        return "--plugins"
    return f"--load {shlex.quote(origin)}" if Path(origin).is_file() else "--load FILE"


def _differences(saved: Mapping[str, Any], axes: Sequence[Sequence[str]], catalog: Catalog) -> list[str]:
    """Return descriptions of the differences between a catalog and the saved one."""
    differences = []
    pairs = zip(AXES, axes, catalog.axes, saved["versions"], _versions(catalog), strict=True)
    for axis, old_ids, new_ids, old_versions, new_versions in pairs:
        differences += [f"{axis} {id!r} is new" for id in new_ids if id not in old_ids]
        differences += [f"{axis} {id!r} is gone" for id in old_ids if id not in new_ids]
        if set(old_ids) == set(new_ids) and list(old_ids) != list(new_ids):
            differences.append(f"the {axis}s are in another order")
        old_version_of = dict(zip(old_ids, old_versions, strict=True))
        # A new component has no earlier version, and is in the list already.
        differences += [
            f"the definition of {axis} {id!r} has changed"
            for id, version in zip(new_ids, new_versions, strict=True)
            if old_version_of.get(id, version) != version
        ]
    return differences
