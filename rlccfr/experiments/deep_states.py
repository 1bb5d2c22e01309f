"""Deep rules on games that are represented by OpenSpiel's states, with robust sampling, DREAM and ESCHER.

On Leduc poker, they are compared with the same rules on the compiled game, which is a tree of histories.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, interval, table, wins
from rlccfr.games.names import load_game
from rlccfr.pictures import save
from rlccfr.policies.matches import played_match
from rlccfr.policies.network_policy import NetworkPolicy
from rlccfr.solver import Solver

LEDUC_RULE = "deep_lcfr(traversals=400,train_steps=200,policy_steps=200,train_every=1)"
LEDUC_ITERATIONS = 60
LEDUC_SEEDS = 5
QUICK_RULE = "deep_lcfr(traversals=100,train_steps=20,policy_steps=20,train_every=1)"
QUICK_ITERATIONS = 5
FORMS = {"compiled": "leduc", "by its states": "generated(leduc)"}
"""Name by which Leduc poker is loaded in each form."""

GAMES = {
    "Phantom tic-tac-toe": "phantom_ttt",
    "Dark Hex 3": "dark_hex(board_size=3)",
    "Dark Hex 4": "dark_hex(board_size=4)",
}
ALGORITHMS = {
    "robust sampling, k = 2": ("deep_lcfr(preset='states')", "robust_k(k=2)"),
    "DREAM": ("deep_lcfr(preset='states',traversals=1000)", "dream(preset='states')"),
    "ESCHER": (
        "deep_lcfr(preset='states',traversals=1000)",
        "escher(value='network',explores='actions',preset='states')",
    ),
}
"""Update rule and sampler of each algorithm; DREAM and ESCHER have more walks, because their walks are shorter."""

UNWEIGHTED = (
    "deep_lcfr(preset='states',traversals=1000)",
    "dream(preset='states',weighted=False)",
)
"""Update rule and sampler of DREAM without importance weights, an ablation."""

SHORT_GAMES = {"Leduc poker": "leduc", "Goofspiel 4": "goofspiel", "Liar's dice": "liars_dice"}
"""Games in which a walk of external sampling visits fewer than 100 histories; their exploitability is exact."""

SHORT_ALGORITHMS = {
    "external sampling": ("deep_lcfr(preset='states')", "external"),
    **{name: algorithm for name, algorithm in ALGORITHMS.items() if name != "DREAM"},
}
SHORT_SECONDS = 20.0

SECONDS = (20.0, 60.0)
"""CPU seconds after which policies are evaluated; after the last of these times, matches are played."""

SEEDS = 3
PAIRS = 4_000
"""Number of pairs of games in a match; the policies change seats in the second game of each pair."""

STEPS = 40_000
OPPONENTS = 3
"""Number of opponents that are trained for each seat, with :data:`STEPS` training steps each."""


def leduc(form: str, rule: str, iterations: int, seed: int) -> list[Row]:
    """Run Deep CFR on Leduc poker in one of the :data:`FORMS`, and return its exploitability."""
    solver = Solver(load_game(FORMS[form]), rule, "external", seed=seed)
    result = solver.run(iterations=iterations, curve=False)
    return [{"exploitability": result.exploitability, "CPU seconds": result.cpu_seconds}]


def short(game: str, rule: str, sampler: str, seconds: float, seed: int) -> list[Row]:
    """Run an algorithm for some CPU seconds on a game's states, and return the exploitability of its policy."""
    solver = Solver(load_game(game, form="generated"), rule, sampler, seed=seed)
    result = solver.run(seconds=seconds, curve=False)
    return [{"exploitability": result.exploitability, "iterations": result.iterations}]


def arena(game: str, seconds: tuple[float, ...], pairs: int, steps: int, seed: int) -> list[Row]:
    """Run each algorithm for the same CPU seconds, and let the policies play each other and the uniform policy.

    Args:
        game: OpenSpiel's name of the game.
        seconds: CPU seconds after which policies play against the uniform one; after the last, they play each other.
        pairs: number of pairs of games in each match, and number of games against trained opponents.
        steps: number of training steps of opponents whose payoffs bound exploitability from below; 0 for no opponents.
        seed: seed of the runs.

    Returns:
        Rows of three kinds. ``uniform`` is from :func:`against_uniform`. ``match`` has the mean payoff per game of the
        algorithm ``first`` against ``second``. ``bound`` has a lower bound on the exploitability of ``first``.
    """
    loaded: Any = load_game(game, form="generated")
    rows: list[Row] = []
    policies = {}
    for name, (rule, sampler) in ALGORITHMS.items():
        solver = Solver(loaded, rule, sampler, seed=seed)
        rows.extend(against_uniform(solver, name, budget, pairs) for budget in seconds)
        policies[name] = solver.average_policy()
        if steps:
            bound = policies[name].trained_bound(steps, OPPONENTS, pairs, seed)  # type: ignore[attr-defined]
            rows.append(
                {"kind": "bound", "first": name, "value": bound.value, "error": bound.error, "steps": bound.steps}
            )
    for first, second in combinations(ALGORITHMS, 2):
        match = played_match(policies[first], policies[second], loaded, pairs, seed)
        rows.append({"kind": "match", "first": first, "second": second, "value": match.value, "error": match.error})
    return rows


def alone(game: str, rule: str, sampler: str, seconds: tuple[float, ...], pairs: int, seed: int) -> list[Row]:
    """Run an algorithm, and return what its average policy wins against the uniform policy.

    Args:
        game: OpenSpiel's name of the game.
        rule, sampler: the algorithm.
        seconds: CPU seconds after which the policies play, ascending.
        pairs: number of pairs of games in each match.
        seed: seed of the run and of the games.
    """
    loaded: Any = load_game(game, form="generated")
    solver = Solver(loaded, rule, sampler, seed=seed)
    return [against_uniform(solver, "DREAM without weights", budget, pairs) for budget in seconds]


def against_uniform(solver: Solver, name: str, seconds: float, pairs: int) -> Row:
    """Continue a run to a number of CPU seconds, and return what its average policy wins against the uniform policy."""
    result = solver.run(seconds=seconds - solver.cpu_seconds, curve=False)
    uniform = NetworkPolicy.uniform(solver.game)
    match = played_match(solver.average_policy(), uniform, solver.game, pairs, solver.seed)
    return {
        "kind": "uniform",
        "first": name,
        "seconds": seconds,
        "iterations": result.iterations,
        "histories": result.nodes_touched,
        "as player 0": match.seats[0],
        "as player 1": match.seats[1],
        "error": match.error,
    }


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    if quick:
        return [
            *(
                Case(f"leduc/{form}/{seed}", partial(leduc, form, QUICK_RULE, QUICK_ITERATIONS, seed))
                for form in FORMS
                for seed in (0, 1)
            ),
            *(
                Case(f"short/Leduc poker/{name}/0", partial(short, "leduc", *algorithm, 1.0, 0))
                for name, algorithm in SHORT_ALGORITHMS.items()
            ),
            Case("arena/Phantom tic-tac-toe/0", partial(arena, "phantom_ttt", (2.0, 4.0), 200, 2_000, 0)),
            Case("alone/Phantom tic-tac-toe/0", partial(alone, "phantom_ttt", *UNWEIGHTED, (2.0, 4.0), 200, 0)),
        ]
    return [
        *(
            Case(f"leduc/{form}/{seed}", partial(leduc, form, LEDUC_RULE, LEDUC_ITERATIONS, seed))
            for form in FORMS
            for seed in range(LEDUC_SEEDS)
        ),
        *(
            Case(f"short/{title}/{name}/{seed}", partial(short, game, *algorithm, SHORT_SECONDS, seed))
            for title, game in SHORT_GAMES.items()
            for name, algorithm in SHORT_ALGORITHMS.items()
            for seed in range(SEEDS)
        ),
        *(
            Case(f"arena/{title}/{seed}", partial(arena, game, SECONDS, PAIRS, 0 if seed else STEPS, seed))
            for title, game in GAMES.items()
            for seed in range(SEEDS)
        ),
        *(
            Case(f"alone/{title}/{seed}", partial(alone, game, *UNWEIGHTED, SECONDS, PAIRS, seed))
            for title, game in GAMES.items()
            for seed in range(SEEDS)
        ),
    ]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``part``, ``name``, ``algorithm`` and ``seed``.

    If a key has only three fields, ``algorithm`` is empty.
    """
    keys = []
    for key in rows["case"].str.split("/"):
        part, name, *algorithm, seed = key
        keys.append((part, name, algorithm[0] if algorithm else "", seed))
    columns = zip(*keys, strict=True)
    return rows.assign(**dict(zip(("part", "name", "algorithm", "seed"), columns, strict=True)))


def forms_ratio(rows: pd.DataFrame) -> Ratio:
    """Return the ratio of exploitabilities on Leduc poker: runs by OpenSpiel's states over compiled runs."""
    runs = rows[rows["part"] == "leduc"]
    by_form = {form: runs[runs["name"] == form].sort_values("seed")["exploitability"] for form in FORMS}
    return Ratio.of(by_form["by its states"], by_form["compiled"])


def matches(rows: pd.DataFrame, game: str, first: str, second: str) -> np.ndarray:
    """Return one algorithm's mean payoff per game against another, (seeds,)."""
    played = rows[(rows["name"] == game) & (rows["kind"] == "match")]
    forward = played[(played["first"] == first) & (played["second"] == second)]
    backward = played[(played["first"] == second) & (played["second"] == first)]
    values: np.ndarray = np.concatenate([forward["value"].to_numpy(), -backward["value"].to_numpy()]).astype(float)
    return values


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the sources' claims by the rows of a full run."""
    rows = parsed(rows)
    games = [game for game in GAMES if len(matches(rows, game, "ESCHER", "DREAM"))]
    won = {game: matches(rows, game, "ESCHER", "DREAM") for game in games}
    return [
        Claim(
            "ESCHER beats DREAM head to head (abstract)",
            {game: Finding(wins(values), len(values)) for game, values in won.items()},
            "; ".join(f"{game}: {interval(values)} a game" for game, values in won.items()),
            "values learned by tree backup, linear weights, and a budget of CPU seconds; DREAM's data have importance "
            "weights",
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    yield from (
        "Games are played through OpenSpiel's states and never compiled. Networks read information state tensors.",
        "",
        "## Leduc poker in both forms",
        "",
        f"Deep CFR with linear weights and external sampling: `{QUICK_RULE if quick else LEDUC_RULE}`, "
        f"{QUICK_ITERATIONS if quick else LEDUC_ITERATIONS} iterations. The same algorithm runs on the compiled game, "
        "and on OpenSpiel's states.",
        "",
    )
    runs = rows[rows["part"] == "leduc"]
    lines = [
        (
            form,
            len(of_form := runs[runs["name"] == form]),
            interval(of_form["exploitability"]),
            interval(of_form["CPU seconds"]),
        )
        for form in FORMS
    ]
    yield from table(("form", "seeds", "exploitability", "CPU seconds"), lines)
    yield from ("", f"Ratio of exploitabilities, by states over compiled, paired by seed: {forms_ratio(rows)}.", "")
    yield from short_games(rows[rows["part"] == "short"], quick)
    yield from arenas(rows[rows["part"].isin(["arena", "alone"])], folder)


def short_games(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """Yield the page's lines on :data:`SHORT_GAMES`."""
    algorithms = "; ".join(f"{name}: `{rule}` with `{sampler}`" for name, (rule, sampler) in SHORT_ALGORITHMS.items())
    yield from (
        "## Games of short walks",
        "",
        f"Exploitability after {1 if quick else SHORT_SECONDS:g} CPU seconds. {algorithms}.",
        "",
    )
    games = [game for game in SHORT_GAMES if (rows["name"] == game).any()]
    lines = [
        (
            algorithm,
            *(
                interval(rows[(rows["name"] == game) & (rows["algorithm"] == algorithm)]["exploitability"])
                for game in games
            ),
        )
        for algorithm in SHORT_ALGORITHMS
    ]
    yield from table(("algorithm", *games), lines)
    yield ""


def draw_payoffs(rows: pd.DataFrame, path: Path, title: str) -> None:
    """Plot what algorithms win against the uniform policy: a panel for each seat, and a line for each seed's run."""
    import matplotlib.pyplot as plt

    panels = plt.subplots(1, 2, sharey=True, layout="constrained")[1]
    colours = {name: f"C{number}" for number, name in enumerate(rows["first"].unique())}
    for seat, axes in enumerate(panels):
        for (name, seed), run in rows.groupby(["first", "seed"], sort=False):
            label = str(name) if seed == "0" else None
            axes.plot(run["seconds"], run[f"as player {seat}"], "o-", color=colours[str(name)], label=label)
        axes.set(title=f"{title}, as player {seat}", xlabel="CPU seconds")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("mean payoff per game against uniform play")
    panels[0].legend(fontsize="small")
    save(panels[0], path)


def arenas(rows: pd.DataFrame, folder: Path) -> Iterator[str]:
    """Yield the page's lines on games that are too large to be compiled."""
    algorithms = "; ".join(f"{name}: `{rule}` with `{sampler}`" for name, (rule, sampler) in ALGORITHMS.items())
    for number, (game, of_game) in enumerate(rows.groupby("name", sort=False)):
        uniform = of_game[of_game["kind"] == "uniform"]
        picture = f"deep-states-{number}.svg"
        draw_payoffs(uniform, folder / picture, str(game))
        yield from (
            f"## {game}",
            "",
            f"{algorithms}; DREAM without weights: `{UNWEIGHTED[0]}` with `{UNWEIGHTED[1]}`, an ablation. All have the "
            "same CPU seconds, on one thread. Payoffs are means per game against uniform play, with intervals over "
            "seeds.",
            "",
            f"![Payoffs against uniform play]({picture})",
            "",
        )
        lines = [
            (
                name,
                f"{seconds:g}",
                f"{runs['iterations'].mean():,.0f}",
                f"{runs['histories'].mean() / 1e6:.2g} million",
                interval(runs["as player 0"]),
                interval(runs["as player 1"]),
            )
            for (name, seconds), runs in uniform.groupby(["first", "seconds"], sort=False)
        ]
        yield from table(("algorithm", "CPU seconds", "iterations", "histories", "as player 0", "as player 1"), lines)
        yield from ("", "Head to head, what the row's algorithm wins from the column's, both seats together:", "")
        between = [
            (
                first,
                *(
                    interval(values) if len(values := matches(of_game, str(game), first, second)) else "-"
                    for second in ALGORITHMS
                ),
            )
            for first in ALGORITHMS
        ]
        yield from table(("", *ALGORITHMS), between)
        bounds = of_game[of_game["kind"] == "bound"]
        bounds_text = "; ".join(f"{row.first} {row.value:.3g} ± {row.error:.2g}" for row in bounds.itertuples())
        yield from (
            "",
            f"Lower bounds of exploitability of the first seed's policies, by the best of {OPPONENTS} opponents in "
            f"each seat that PPO has trained with {bounds['steps'].max():,.0f} steps: {bounds_text}.",
            "",
        )


EXPERIMENT = Experiment(
    "deep-states", "Deep rules on games that are never compiled",
    "McAleer, Farina, Lanctot and Sandholm, ESCHER, ICLR 2023 (abstract); Steinberger, Lerer and Brown, DREAM, 2020; "
    "Li et al., Double neural counterfactual regret minimization, ICLR 2020 (section 4)",
    cases, page, claims,
)  # fmt: skip
