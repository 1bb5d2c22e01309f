"""SD-CFR's average over value networks, compared with Deep CFR's average network (Steinberger 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import HOLDS, NO_STAND_IN, OPEN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, grouped, interval, table, verdict_of, wins
from rlccfr.games.names import load_game
from rlccfr.games.walked.state_walks import drawn_outcome
from rlccfr.policies.matches import distances, exact_match, played_match
from rlccfr.solver import Solver

SETTINGS: Mapping[str, Any] = {
    "hidden": 64, "layers": 3, "traversals": 1500, "train_steps": 750, "batch_size": 2048, "policy_steps": 50,
    "retrain_from_scratch": True, "train_every": 1,
}  # fmt: skip
WARM: Mapping[str, Any] = {"retrain_from_scratch": False}
"""How the source starts a value network: with the weights of an earlier one. Here, Adam's moments are kept, too."""

WARM_SEEDS = 3

QUICK: Mapping[str, Any] = {**SETTINGS, "traversals": 100, "train_steps": 20, "policy_steps": 10}
LARGE = "leduc(ranks=6,suits=2,raises=4)"
"""Stand-in for 5-card-flop hold'em, with 324,337 histories."""

LARGE_SETTINGS = {"memory": 50_000, "traversals": 1000, "train_steps": 200}
"""Settings on :data:`LARGE` that differ from those on Leduc."""

LARGE_ITERATIONS = 40
HOLDEM = "generated(holdem(flop=5,raises=3,opening=3,later=1))"
"""The source's hold'em: two rounds, the second of them with five board cards. It fits no table."""

HOLDEM_TITLE = "5-card-flop hold'em"
HOLDEM_SETTINGS: Mapping[str, Any] = {
    **SETTINGS, "traversals": 2000, "train_steps": 300, "policy_steps": 300, "memory": 200_000,
}  # fmt: skip
HOLDEM_ITERATIONS = 30
HOLDEM_SEEDS = 3

PAIRS = 50_000
"""Number of pairs of games of a match in hold'em; the averages change seats in the second game of each pair."""

DISTANCE_GAMES = 400
"""Number of games in hold'em at whose decisions the two averages are compared."""

RESERVOIRS = (10, 30)
"""Numbers of value networks in a reservoir."""

PUBLISHED = {
    "mean": (0.012, 0.013, 0.052, 0.083, 0.113, 0.175),
    "deviation": (0.017, 0.018, 0.048, 0.075, 0.109, 0.206),
}
"""Steinberger's Table 1: distance between the two averages by depth, on his game, after 180 iterations."""

AVERAGES = {"Deep CFR": {"average": "network"}, "SD-CFR": {"average": "value_networks"}}
"""Settings of the two averages that are compared."""

STEP = 10
"""Number of iterations between points of the comparison."""

STARTS = {"leduc": "Leduc (from scratch)", "warm": "Leduc (warm start)"}
"""Names of the runs on Leduc, keyed by the first field of cases' keys; they differ in how value networks start."""

SUFFIXES = {"Leduc (from scratch)": "", "Leduc (warm start)": ", warm start"}
"""Suffixes of the averages' names, keyed by the names of runs in :data:`STARTS`."""

AVERAGE_NETWORK = "an average network of 50 steps after each fit, for 5,000 steps from scratch at each measurement"
SMALLER = f"in hold'em, networks and walks of a smaller size, and 30 iterations; `{LARGE}` beside it"


def solvers(game: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Solver]:
    """Return a solver for each of the :data:`AVERAGES`; they share a seed, and so train the same value networks."""
    tree = load_game(game)
    return {
        name: Solver(tree, {"id": "deep_lcfr", **settings, **average}, "external", seed=seed)
        for name, average in AVERAGES.items()
    }


def both(game: str, iterations: int, settings: Mapping[str, Any], seed: int) -> list[Row]:
    """Return both averages' exploitability and the value of their match during a run, and their final distances."""
    # Both solvers train the same value networks, so that only the averages differ.
    both_solvers = solvers(game, seed, settings)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        averages = {}
        for name, solver in both_solvers.items():
            solver.run(iterations=STEP, curve=False)
            averages[name] = solver.average_policy()
            rows.append({"average": name, "iterations": done, "exploitability": averages[name].exploitability()})
        # Positive if SD-CFR's average wins, over both seats.
        value = exact_match(averages["SD-CFR"], averages["Deep CFR"]).value
        rows.append({"average": "match", "iterations": done, "value": value})
    by_depth = distances(averages["SD-CFR"], averages["Deep CFR"])
    return rows + [{"average": "distance", **dict(row)} for _, row in by_depth.iterrows()]


def in_holdem(iterations: int, settings: Mapping[str, Any], step: int, pairs: int, games: int, seed: int) -> list[Row]:
    """Return the match between both averages during a run in hold'em, and their distances at its end.

    Args:
        iterations: iterations of the run.
        settings: settings of the networks.
        step: number of iterations between matches.
        pairs: number of pairs of games of a match.
        games: number of games at whose decisions the averages are compared.
        seed: seed of the run, of the matches and of the games.

    Returns:
        Rows of two kinds: ``match``, with the chips that SD-CFR's average wins in a game, and ``distance``.
    """
    both_solvers = solvers(HOLDEM, seed, settings)
    rows: list[Row] = []
    for done in range(step, iterations + 1, step):
        averages: dict[str, Any] = {}
        for name, solver in both_solvers.items():
            solver.run(iterations=step, curve=False)
            averages[name] = solver.average_policy()
        game = both_solvers["SD-CFR"].game
        match = played_match(averages["SD-CFR"], averages["Deep CFR"], game, pairs, seed)
        rows.append({"average": "match", "iterations": done, "value": match.value, "big blind": game.big_blind})
    by_depth: dict[int, list[float]] = {}
    for depth, distance in met_distances(averages["SD-CFR"], averages["Deep CFR"], games, seed):
        by_depth.setdefault(depth, []).append(distance)
    for depth, values in sorted(by_depth.items()):
        rows.append({
            "average": "distance", "depth": depth, "mean": float(np.mean(values)), "deviation": float(np.std(values)),
        })  # fmt: skip
    return rows


def met_distances(first: Any, second: Any, games: int, seed: int) -> Iterator[tuple[int, float]]:
    """Yield the depth of each decision that is met in some games, and the total variation between two policies there.

    In the games, all actions are drawn from ``first``. The depth is the number of earlier moves of both players.
    """
    rng = np.random.default_rng(seed)
    for _ in range(games):
        state = first.game.openspiel_game.new_initial_state()
        depth = 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(drawn_outcome(state, rng))
                continue
            probabilities = first.action_probabilities(state)
            others = second.action_probabilities(state)
            yield depth, sum(abs(probabilities[action] - others[action]) for action in probabilities) / 2
            state.apply_action(int(rng.choice(list(probabilities), p=list(probabilities.values()))))
            depth += 1


def sampled(iterations: int, settings: Mapping[str, Any], size: int, seed: int) -> list[Row]:
    """Return the exploitability of the average over a reservoir of ``size`` value networks."""
    rule = {"id": "deep_lcfr", **settings, "average": "value_networks", "kept_networks": size}
    solver = Solver(load_game("leduc"), rule, "external", seed=seed)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        solver.run(iterations=STEP, curve=False)
        exploitability = solver.average_policy().exploitability()
        rows.append({"average": f"{size} networks", "iterations": done, "exploitability": exploitability})
    return rows


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    if quick:
        return [
            Case("leduc/0", partial(both, "leduc", 20, QUICK, 0)),
            Case("warm/0", partial(both, "leduc", 20, {**QUICK, **WARM}, 0)),
            Case("kept/10/0", partial(sampled, 20, QUICK, 10, 0)),
            Case("holdem/0", partial(in_holdem, 2, QUICK, 1, 100, 4, 0)),
        ]
    all_cases = [
        Case(f"{start}/{seed}", partial(both, "leduc", 100, settings, seed))
        for start, settings, seeds in (("leduc", SETTINGS, 5), ("warm", {**SETTINGS, **WARM}, WARM_SEEDS))
        for seed in range(seeds)
    ]
    all_cases += [
        Case(f"kept/{size}/{seed}", partial(sampled, 100, SETTINGS, size, seed))
        for size in RESERVOIRS
        for seed in (0, 1)
    ]
    all_cases.append(Case("large/0", partial(both, LARGE, LARGE_ITERATIONS, {**SETTINGS, **LARGE_SETTINGS}, 0)))
    return all_cases + [
        Case(f"holdem/{seed}", partial(in_holdem, HOLDEM_ITERATIONS, HOLDEM_SETTINGS, 5, PAIRS, DISTANCE_GAMES, seed))
        for seed in range(HOLDEM_SEEDS)
    ]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the ``part`` and the ``seed`` in their cases' keys.

    The names of averages in runs with a warm start get a suffix.
    """
    keys = rows["case"].str.split("/")
    rows = rows.assign(part=keys.str[0], seed=keys.str[-1])
    warm = (rows["part"] == "warm") & rows["average"].isin(list(AVERAGES))
    return rows.assign(average=rows["average"].mask(warm, rows["average"] + ", warm start"))


def last(rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return the exploitability at the end of the runs on Leduc, by average."""
    ends = rows[(rows["iterations"] == rows["iterations"].max()) & rows["exploitability"].notna()]
    return {name: values for (name,), values in grouped(ends, "average").items()}


def to_deep_cfr(ends: Mapping[str, list[float]]) -> dict[str, Ratio]:
    """Return the ratio of SD-CFR's exploitability to Deep CFR's for each way in which value networks start."""
    return {
        start: Ratio.of(ends[f"SD-CFR{suffix}"], ends[f"Deep CFR{suffix}"])
        for start, suffix in SUFFIXES.items()
        if f"SD-CFR{suffix}" in ends
    }


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims, and a claim of this library about warm starts."""
    rows = parsed(rows)
    small = rows[rows["part"].isin([*STARTS, "kept"])]
    reached = last(small)
    to_average_network = to_deep_cfr(reached)
    # The reservoirs have fewer seeds than SD-CFR from scratch, and are compared with its first seeds.
    reservoirs = {
        name: Ratio.of(values, reached["SD-CFR"][: len(values)])
        for name, values in reached.items()
        if "networks" in name
    }
    warm_starts = reached["SD-CFR, warm start"]
    warm = Ratio.of(warm_starts, reached["SD-CFR"][: len(warm_starts)])
    return [
        Claim(
            "SD-CFR ends below Deep CFR",
            {
                start: Finding(ratio.below_one, len(reached[f"SD-CFR{SUFFIXES[start]}"]))
                for start, ratio in to_average_network.items()
            },
            "ratio " + ", ".join(f"{ratio} ({start})" for start, ratio in to_average_network.items()),
            AVERAGE_NETWORK,
        ),
        Claim(
            "(not said there) A warm start of value networks, the source's, ends below starts from scratch",
            {"Leduc": Finding(warm.below_one, len(warm_starts))},
            f"ratio of SD-CFR's exploitability {warm}",
            NO_STAND_IN,
        ),
        Claim(
            "An average over a sample of the networks ends higher",
            {f"Leduc ({name})": Finding(ratio.above_one, len(reached[name])) for name, ratio in reservoirs.items()},
            ", ".join(f"{name}: ratio {ratio}" for name, ratio in reservoirs.items()),
            NO_STAND_IN,
        ),
        matches(rows),
        depths(rows),
    ]


def games(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, int]]:
    """Yield the name, the rows and the number of seeds of each group of runs whose averages were compared."""
    for part, name in (*STARTS.items(), ("large", f"`{LARGE}`"), ("holdem", HOLDEM_TITLE)):
        runs = rows[rows["part"] == part]
        if len(runs):
            yield name, runs, runs["seed"].nunique()


def matches(rows: pd.DataFrame) -> Claim:
    """Judge the claim that SD-CFR's average wins the match throughout a run."""
    findings = {}
    figures = []
    for name, runs, seeds in games(rows):
        matches_of_runs = runs[runs["average"] == "match"]
        values = matches_of_runs["value"]
        verdict = verdict_of(bool((values > 0).all()))
        if name == HOLDEM_TITLE:  # these matches are played, so their values have errors
            verdict = verdict_of_played(matches_of_runs)
        findings[name] = Finding(verdict, seeds)
        figures.append(f"ahead at {(values > 0).sum()} of {len(values)} points ({name})")
    return Claim("SD-CFR wins the match throughout (hold'em)", findings, ", ".join(figures), SMALLER)


def verdict_of_played(rows: pd.DataFrame) -> str:
    """Return the verdict on the claim that SD-CFR wins throughout, by matches that were played.

    The claim holds if SD-CFR wins on average over a run, and at each point on average over the seeds.
    """
    verdict = wins(rows.groupby("seed")["value"].mean().to_numpy())
    is_ahead_throughout = bool((rows.groupby("iterations")["value"].mean() > 0).all())
    return OPEN if verdict == HOLDS and not is_ahead_throughout else verdict


def depths(rows: pd.DataFrame) -> Claim:
    """Judge the claim that distances grow with depth, by their means in the first and the second half of the depths."""
    findings = {}
    figures = []
    for name, runs, seeds in games(rows):
        by_depth = runs[runs["average"] == "distance"].groupby("depth")["mean"].mean().to_numpy()
        shallow, deep = (float(half.mean()) for half in np.array_split(by_depth, 2))
        findings[name] = Finding(verdict_of(deep > shallow), seeds)
        figures.append(f"{shallow:.3f} and {deep:.3f} ({name})")
    return Claim(
        "The two averages differ more at greater depth (hold'em)",
        findings,
        "in the first half of the depths and in the second: " + ", ".join(figures),
        f"{SMALLER}; total variation for a distance without a formula",
    )


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    settings = ", ".join(f"{name}={value!r}" for name, value in (QUICK if quick else SETTINGS).items())
    yield from (
        "Both averages come from the same value networks, which are trained with the settings "
        f"`{settings}` and linear weights. Deep CFR fits a further network to the policies that were played; SD-CFR "
        "keeps the value networks, and its average is exact.",
        "",
        "Steinberger starts each value network from an earlier one's weights. The lines named *warm start* do so, with "
        "`retrain_from_scratch=False`; the others train each value network from scratch, as Brown et al. do. "
        "Steinberger trains the average network from scratch at each measured iteration, for 5,000 steps; here it "
        "continues from its last weights after each iteration. His larger Leduc, of 6,178,561 histories, does not fit "
        "into an hour.",
    )
    small = rows[rows["part"].isin([*STARTS, "kept"]) & rows["exploitability"].notna()]
    draw(small, "iterations", "average", folder / "sd-cfr.svg", "leduc")
    yield from ("", "## Leduc", "", "![Exploitability against iterations](sd-cfr.svg)", "")
    yield from ends(small)
    yield from (
        "",
        "Steinberger finds that an average over a reservoir of fewer networks than iterations reaches a plateau and "
        "oscillates.",
    )
    for name, runs, _ in games(rows):
        yield from ("", f"## Match and distance on {name}", "")
        if name == f"`{LARGE}`":
            changed = ", ".join(f"{key}={value:,}" for key, value in LARGE_SETTINGS.items())
            yield f"The settings differ here: `{changed}`, and {LARGE_ITERATIONS} iterations, with one seed."
            yield ""
        if name == HOLDEM_TITLE:
            yield from played_matches(runs, quick)
        else:
            yield from match(runs)
        yield ""
        yield from distances_by_depth(runs[runs["average"] == "distance"])


def ends(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's lines on the exploitabilities at the end of the runs: a table, and ratios."""
    reached = last(rows)
    lines = [(name, len(values), interval(values)) for name, values in reached.items()]
    yield from table(("average", "seeds", f"exploitability after {rows['iterations'].max():,.0f} iterations"), lines)
    yield ""
    yield from (
        f"Paired by seed, SD-CFR's exploitability is {ratio} times Deep CFR's ({start})."
        for start, ratio in to_deep_cfr(reached).items()
    )


def match(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's line on the match between the two averages, which is computed exactly."""
    values = rows[rows["average"] == "match"]
    final = values[values["iterations"] == values["iterations"].max()]["value"]
    won = (values["value"] > 0).mean()
    yield (
        f"SD-CFR's average wins {interval(final)} a game against Deep CFR's after {values['iterations'].max():,.0f} "
        f"iterations, exactly computed over both seats, and is ahead at {won:.0%} of the points. In Steinberger's "
        "hold'em it wins throughout."
    )


def played_matches(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """Yield the page's lines on the matches in hold'em, which are played."""
    changed = {key: value for key, value in HOLDEM_SETTINGS.items() if SETTINGS.get(key) != value}
    settings = ", ".join(
        f"{key}={value:,}" for key, value in (QUICK if quick else changed).items() if value is not True
    )
    yield (
        f"`{HOLDEM}` has two rounds, and its flop has five cards. Its tables would not fit into memory, so walks go "
        f"through OpenSpiel's states, and networks read their tensors. The settings differ: `{settings}`. Matches are "
        "played, over both seats. A number is what SD-CFR's average wins against Deep CFR's, in thousandths of a big "
        "blind per game (mbb/g), with Student's interval over seeds. Steinberger's lead shrinks once the memory has "
        "filled. The distances are those at decisions that are met in games of SD-CFR's average."
    )
    yield ""
    won = rows[rows["average"] == "match"]
    won = won.assign(mbb=1000 * won["value"] / won["big blind"])
    lines = [(f"{done:g}", interval(at_point["mbb"])) for done, at_point in won.groupby("iterations")]
    yield from table(("iterations", "SD-CFR wins, mbb/g"), lines)


def distances_by_depth(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's table of distances by depth."""
    yield (
        "Total variation between the two averages by depth, the number of earlier moves. Steinberger's figures are "
        "those of his hold'em, and he gives no formula for them; they grow with depth."
    )
    yield ""
    lines = []
    for depth, at_depth in rows.groupby(rows["depth"].astype(int)):
        measured = [f"{at_depth[figure].mean():.3f}" for figure in PUBLISHED]
        published = [dict(enumerate(values)).get(int(str(depth)), "-") for values in PUBLISHED.values()]
        lines.append((depth, *measured, *published))
    yield from table(("depth", "mean", "deviation", "published mean", "published deviation"), lines)


EXPERIMENT = Experiment(
    "sd-cfr", "SD-CFR beside Deep CFR: averages of networks",
    "Steinberger, Single deep counterfactual regret minimization, 2019", cases, page, claims,
)  # fmt: skip
