"""``python -m benchmarks.teams``: write the files that the package ships, from the runs of `make measure`.

These files go to agents/shipped/data: the runs of the paper's games, without other runs that runs/sweep may hold; the
runs of games with a public tree, and a team for all of these; a team for each of the paper's games and one for all; the
costs on the families' training games; a team that has learned from these games, for games that were not measured; and
the judgement of its choices on other games. The families' runs go to benchmarks/results, so that choosers can be judged
again without hours of measuring. A file is kept if it was made from the same runs by the same version of learning and
judging; benchmarks/results/made-from.json records these. A file of measurements is also kept if runs/
lacks some of its runs.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.choosers import NAMES, named
from benchmarks.methods import digest_of_runs
from rlccfr.agents import shipped
from rlccfr.agents.judging import unseen_games as generalisation
from rlccfr.agents.judging.evidence import ChoosingRuns
from rlccfr.agents.judging.unseen_games import judged
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.agents.shipped.measured_best import best_measured, catalogs_of
from rlccfr.agents.team import learning
from rlccfr.agents.team.pretraining import train_on_table
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.agents.team.team_file import FILE_NAME
from rlccfr.catalog import Catalog
from rlccfr.catalog.families import FAMILIES, TRAIN
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.sweeping.plan import FURTHER, Job, Limits, jobs
from rlccfr.envs.sweeping.sweep import close_calls
from rlccfr.files import write_atomically
from rlccfr.games.compiled_games import compiled

SWEPT = Path("runs/sweep")
FAMILIES_SWEPT = Path("runs/families")
PUBLIC_SWEPT = Path("runs/public")
RESULTS = Path(__file__).parent / "results"
"""Folder under version control: measurements that are not shipped, and what each file was made from."""

MEASURED = "families.parquet"
MADE_FROM = "made-from.json"
ITERATIONS = 1_000
"""Number of iterations of the paper's budget, which teams learn besides those in seconds."""

BRIEF = Budget("seconds", 0.001)
"""Further budget of choosers for unseen games: a small game with little time resembles a large one with more."""

BETWEEN = tuple(Budget("seconds", amount) for amount in (0.03, 0.3))
"""Budgets that no chooser has learned from."""

CLOSE = 0.05
"""Value of ``--close`` in `make measure`."""

LIMITS = Limits(further=FURTHER)
"""Limits of the runs of `make measure`."""

PUBLIC_CLOSE = 0.01
PUBLIC_SEEDS = 3
"""Values of ``--close`` and ``--close-seeds`` on games with a public tree."""

JOINING = ("sapcfr_plus", "ddcfr_schedule", "cfr_reset")
"""Update rules that are added to the extended catalog when it is measured again."""


def main() -> None:
    """Write the files that are missing, or were made from other runs or by other versions."""
    measured = shipped.DATA / shipped.MEASURED
    published(measured, Store(SWEPT), planned)
    for games in (*((game,) for game in shipped.GAMES), shipped.GAMES):
        name = "all" if games == shipped.GAMES else games[0]
        made(
            shipped.DATA / f"team-{name}.npz",
            origin(measured, met(), games),
            partial(write_team, partial(trained, games)),
        )
    published(RESULTS / MEASURED, Store(FAMILIES_SWEPT), lambda store: members(), (BRIEF, *met(), *BETWEEN))
    made(
        shipped.DATA / shipped.START,
        origin(RESULTS / MEASURED, (BRIEF, *met()), to_start_from()),
        partial(write_team, partial(trained_on_small_games, to_start_from())),
    )
    made(
        shipped.DATA / shipped.COSTS,
        source(RESULTS / MEASURED, (BRIEF, *met()), TRAIN),
        lambda path: small_games().save(path),
    )
    basis = source(RESULTS / MEASURED, (BRIEF, *met(), *BETWEEN), (*TRAIN, *held_out()))
    versions = {"judging": generalisation.VERSION, "learning": learning.VERSION}
    made(shipped.DATA / shipped.GENERALISATION, {**basis, **versions}, generalise)
    made(shipped.DATA / shipped.WINNERS, source(measured, shipped.BUDGETS, shipped.GAMES), write_winners)
    public = shipped.DATA / shipped.PUBLIC_MEASURED
    published(public, Store(PUBLIC_SWEPT), on_public_trees, shipped.PUBLIC_BUDGETS)
    made(
        shipped.DATA / "team-public.npz",
        origin(public, shipped.PUBLIC_BUDGETS, shipped.PUBLIC_GAMES),
        partial(write_team, trained_on_public_trees),
    )


def met() -> tuple[Budget, ...]:
    """Return the budgets that teams learn."""
    return (*shipped.BUDGETS, Budget("iterations", ITERATIONS))


Origin = dict[str, Any]
"""Description of what a file was made from, in JSON's types."""


def source(table: Path, budgets: Sequence[Budget], games: Iterable[str]) -> Origin:
    """Return what figures are computed from: the games' runs, the budgets and the games."""
    names = tuple(games)
    return {"measurements": digest_of_runs(table, names), "budgets": list(map(str, budgets)), "games": list(names)}


def origin(table: Path, budgets: Sequence[Budget], games: Iterable[str]) -> Origin:
    """Return everything that a team depends on: the runs, the budgets and games, and the version of learning."""
    return {**source(table, budgets, games), "learning": learning.VERSION}


def published(path: Path, store: Store, plan: Callable[[Store], Sequence[Job]], budgets: Sequence[Budget] = ()) -> None:
    """Write the runs of a plan to one file; if the store lacks some of them, keep the file as it is.

    Args:
        budgets: budgets whose results must be readable off the runs; by default every budget.

    Raises:
        SystemExit: the store lacks runs, and there is no file.
    """
    ids = {job.id for job in plan(store)} if len(store) else set()
    lacking = len(ids - set(store.ids()))
    if lacking or not ids:
        what = f"{store.path} lacks runs of `make measure`"
        if not path.exists():
            sys.exit(f"error: {path.name} can't be written: {what}")
        say(f"{path.name} stays as it is: {what}")
        return
    made_from = {"runs": names([*ids, *map(str, budgets)])}
    made(path, made_from, lambda path: store.compact(path, small=True, budgets=budgets, ids=ids))


def planned(store: Store) -> list[Job]:
    """Return the runs of `make measure` on the paper's games, with more seeds of models that are close to the best."""
    planned_jobs: list[Job] = []
    for game in shipped.GAMES:
        seeds = range(3 if game == "royal" else 5)
        first = jobs({game: seeds}, shipped.catalog(), limits=LIMITS)
        planned_jobs += first + close_calls(first, store, seeds, CLOSE)
        for catalog in (Catalog.extended_tabular().plus(JOINING), Catalog.schedules()):
            planned_jobs += jobs({game: seeds}, catalog, limits=LIMITS)
    return planned_jobs


def members() -> list[Job]:
    """Return the runs of `make measure` on the families."""
    seeds = {**dict.fromkeys(TRAIN, range(2)), **dict.fromkeys(held_out(), range(3))}
    return jobs(seeds, shipped.tabular(), limits=LIMITS)


def on_public_trees(store: Store) -> list[Job]:
    """Return the runs of `make measure` on games with a public tree, with more seeds of those close to the best."""
    limits = Limits(iterations=1, seconds=shipped.PUBLIC_BUDGETS[-1].amount)
    first = jobs(dict.fromkeys(shipped.PUBLIC_GAMES, range(1)), shipped.public_catalog(), limits=limits)
    return first + close_calls(first, store, range(PUBLIC_SEEDS), PUBLIC_CLOSE)


def held_out() -> dict[str, str]:
    """Return the games of the families that are not for training, each with ``"validation"`` or ``"test"``."""
    validation = [game for family in FAMILIES for game in family.validation]
    test = [game for family in FAMILIES for game in family.test]
    return {**dict.fromkeys(validation, "validation"), **dict.fromkeys(test, "test")}


@cache
def others() -> TableEvaluator:
    """Return the families' measurements."""
    return TableEvaluator(RESULTS / MEASURED)


def small_games() -> MeasuredCosts:
    """Return the costs on the training games of the families, under the budgets that choosers learn."""
    return MeasuredCosts.read(others(), shipped.tabular(), TRAIN, (BRIEF, *met()))


def generalise(path: Path) -> None:
    """Write the judgements of all choosers, on all held-out games, and of choosers that did not learn from a family.

    The columns are those of :func:`judged`; ``member``, which is validation or test; ``without``, the family that was
    left out, or ""; and ``picked by``, the chooser's name.
    """
    rows = judgements(shipped.load_team(shipped.START), list(held_out()), "")
    for family in FAMILIES:
        if family.train and family.held_out:
            others_alone = [game for game in to_start_from() if game not in family.train]
            rows += judgements(trained_on_small_games(others_alone), family.held_out, family.name)
    buffer = io.BytesIO()
    pd.concat(rows, ignore_index=True).to_parquet(buffer, index=False)
    write_atomically(path, buffer.getvalue())


def write_winners(path: Path) -> None:
    """Write the best measured algorithm on each of the paper's games, by budget and reward weights.

    Finding them takes seconds, because thousands of runs are read, and the answer never changes.
    """
    record: dict[str, dict[str, list[str]]] = {}
    for budget in shipped.BUDGETS:
        record[str(budget)] = {}
        for name, preset in PRESETS.items():
            cells = []
            for game in shipped.GAMES:
                table = shipped.results(game)
                cells.append(best_measured(table, game, catalogs_of(table, game, None), budget, preset).cell)
            record[str(budget)][name] = list(map(str, cells))
    write_atomically(path, f"{json.dumps(record, indent=1)}\n".encode())


def judgements(team: SelectorTeam, games: Sequence[str], without: str) -> list[pd.DataFrame]:
    """Return the judgements of all choosers that ask a team, on some games."""
    frames = []
    for name in NAMES:
        say(f"judging {name}{' without ' * bool(without)}{without} on {len(games)} games")
        chooser = named(name, team, ChoosingRuns(others()))
        rows = judged(chooser, others(), games, (*shipped.BUDGETS, *BETWEEN), list(PRESETS.values()))
        about = {"member": rows["game"].map(held_out()), "without": without, "picked by": name}
        frames.append(rows.assign(**about))  # type: ignore[arg-type]
    return frames


def trained(games: Sequence[str]) -> SelectorTeam:
    """Return a team for some of the paper's games."""
    spec = EpisodeSpec.parse(games, budget=met(), catalog=shipped.catalog(), evaluator=shipped.results())
    return train_on_table(spec)


def to_start_from() -> list[str]:
    """Return the training games without the paper's, so that the team still has something to learn on the latter."""
    return [game for game in TRAIN if compiled(game).content_hash not in paper_hashes()]


@cache
def paper_hashes() -> frozenset[str]:
    """Return the content hashes of the paper's games: the training games have other names for some of them."""
    return frozenset(compiled(game).content_hash for game in shipped.GAMES)


def trained_on_small_games(games: Sequence[str], seed: int = 0) -> SelectorTeam:
    """Return a team for games that were not measured, which has learned from some training games of the families."""
    spec = EpisodeSpec.parse(games, budget=(BRIEF, *met()), catalog=shipped.tabular(), evaluator=others())
    return train_on_table(spec, seed=seed)


def trained_on_public_trees() -> SelectorTeam:
    """Return a team for the games with a public tree."""
    spec = EpisodeSpec.parse(
        shipped.PUBLIC_GAMES, shipped.PUBLIC_BUDGETS, catalog=shipped.public_catalog(),
        evaluator=shipped.public_results(),
    )  # fmt: skip
    return train_on_table(spec)


def write_team(train: Callable[[], SelectorTeam], path: Path) -> None:
    """Write a newly trained team's Q-networks to a file."""
    begin = time.monotonic()
    team = train()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        team.save(folder, experience=False)
        (Path(folder) / FILE_NAME).replace(path)
    say(f"{path.name}: {team.cost[0]:,} runs, {time.monotonic() - begin:.0f} s, {path.stat().st_size:,} bytes")


def made(path: Path, made_from: Origin, write: Callable[[Path], object]) -> None:
    """Write a file, unless it exists and was made from the same origin."""
    if path.exists() and recorded().get(path.name) == made_from:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path)
    record = {**recorded(), path.name: made_from}  # others may have been recorded while this was written
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(sources)}" for name, sources in record.items())
    write_atomically(RESULTS / MADE_FROM, f"{{\n{lines}\n}}\n".encode())


def recorded() -> dict[str, Origin]:
    """Return what each file was made from, by its name."""
    path = RESULTS / MADE_FROM
    return dict(json.loads(path.read_text())) if path.exists() else {}


def names(ids: Iterable[str]) -> str:
    """Return a hash of the ids of runs; an id changes with anything that its run depends on."""
    return hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()


def say(text: str) -> None:
    """Print a line to stderr."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
