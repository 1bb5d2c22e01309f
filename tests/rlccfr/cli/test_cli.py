"""The commands, called as from a shell."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rlccfr
from rlccfr.agents.judging.exact_reference import exact_line
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.archives import archive_of, read_archive
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.catalog.families import TEST, TRAIN, VALIDATION
from rlccfr.cli.commands import demo
from rlccfr.cli.commands.compare import print_comparison
from rlccfr.cli.progress import stderr
from rlccfr.engine import linear_program
from rlccfr.envs import Budget, LiveEvaluator, Request
from rlccfr.envs.measuring.store import Store
from rlccfr.errors import InUseError
from rlccfr.files import held_file
from rlccfr.games.public.names import LISTED

COMMANDS = (
    "games", "equity", "catalog", "solve", "train", "show", "explore", "play", "match", "recommend", "results",
    "reproduce", "compare", "sweep", "check", "cite", "doctor", "demo",
)  # fmt: skip
MOVED = ("table", "report", "insights", "aslib")
RESULTS = (*MOVED, "curves")
WITH_RARE_OPTIONS = ("games", "solve", "train", "recommend", "compare", "sweep", "results table", "results insights")


@pytest.fixture(scope="module", autouse=True)
def kernels():
    """Compile the kernels before any command is called, since the first compilation prints a line on stderr."""
    rlccfr.Solver(rlccfr.load_game("kuhn")).run(iterations=1)


def screen(run, *arguments):
    """Return the lines that a command prints, which must fit a screen of 80 columns and 40 lines."""
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    return lines


@pytest.mark.parametrize("command", [*COMMANDS, *MOVED, *(f"results {name}" for name in RESULTS)])
def test_every_commands_help_fits_a_screen(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert screen(run, *command.split(), "--help")[0].startswith(f"Usage: rlccfr {command} ")


@pytest.mark.parametrize("group", [(), ("results",)])
def test_commands_are_listed_on_one_screen_with_whole_sentences(run, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    lines = screen(run, *group)
    listed = lines[lines.index("Commands:") + 1 :]
    assert {line.split()[0] for line in listed} == set(RESULTS if group else COMMANDS)
    assert [line for line in listed if line.endswith("...")] == []


@pytest.mark.parametrize("command", WITH_RARE_OPTIONS)
def test_rare_options_have_a_line_each(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert "--option NAME=VALUE  A rare option" in run(*command.split(), "--help")[1]
    heading, *lines = screen(run, *command.split(), "--option", "help")
    assert heading.startswith("--option NAME=VALUE")
    assert all(line.startswith("  ") and line[2] != " " for line in lines)


@pytest.mark.parametrize(
    ("common", "settings", "old_options"),
    [
        ("--sampler external", ["walks=3"], ["--walks", "3"]),
        ("", ["averaging=pre"], ["--averaging", "pre"]),
        ("", ["simultaneous=yes"], ["--simultaneous"]),
        ("", ["simultaneous=yes", "simultaneous=no"], ["--simultaneous", "--no-simultaneous"]),
        ("", ["reduce=no"], ["--no-reduce"]),
        ("", ["blend=yes"], ["--blend"]),
        ("--checkpoint run.npz", ["checkpoint_every=5"], ["--checkpoint-every", "5"]),
        ("", ["then=dcfr x none x none", "then=cfr x none x none"],
         ["--then", "dcfr x none x none", "--then", "cfr x none x none"]),
    ],
)  # fmt: skip
def test_an_option_by_its_name_does_what_the_old_option_does(run, common, settings, old_options):
    solve = ("solve", "kuhn", "--update-rule", "cfr", "--iterations", "60", "--json", *common.split())
    results = []
    for options in ([f"--option={setting}" for setting in settings], old_options):
        Path("run.npz").unlink(missing_ok=True)
        facts = json.loads(run(*solve, *options)[1])
        timed = ("cpu_seconds", "blending_seconds", "throughput")
        results.append({name: value for name, value in facts.items() if name not in timed})
    assert results[0] == results[1]


@pytest.mark.slow
def test_an_option_that_takes_no_old_form(run):
    game = "holdem(ranks=4,suits=2,private=1,flop=1)"
    solve = ("solve", game, "--iterations", "5", "--json", "--checkpoint", "run.npz")
    assert run(*solve, "--option", "dtype=float32")[0] == 0
    assert rlccfr.Solver.load("run.npz").dtype == "float32"
    assert run(*solve)[0] == 0
    assert "belongs to another run: its dtype is" in run(*solve, "--option", "dtype=float64")[2]
    short = ("solve", game, "--iterations", "5", "--checkpoint", "short.npz", "--option", "dtype=int16")
    assert run(*short)[0] == 0
    solver = rlccfr.Solver.load("short.npz")
    assert (solver.dtype, solver.blends) == ("int16", False)  # the default run would blend


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "walk=3",
            "Invalid value for --option: unknown name 'walk'; did you mean 'walks'? The names are averaging, blend, ",
        ),
        ("walks", "Invalid value for --option: 'walks' has no value: write walks=VALUE"),
        ("walks=many", "--option walks takes a whole number, such as 1000, not 'many'"),
        ("reduce=perhaps", "Invalid value for --option: reduce must be yes or no, not 'perhaps'"),
    ],
)
def test_an_option_that_is_none_is_refused_in_one_line(run, option, message):
    code, out, err = run("solve", "kuhn", "--option", option)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {message}")


def test_exact_solutions_take_no_rare_option(run):
    err = run("solve", "kuhn", "--exact", "--option", "walks=3")[2]
    reason = "--exact solves a linear program, so --option walks can't be given with it"
    assert err == f"error: {reason}: leave out one of them\n"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("insights", "kuhn", "--json"), ("table", "kuhn", "--seconds", "5")])
def test_old_names_of_commands_work_and_tell_the_new_ones(run, arguments):
    name = arguments[0]
    code, out, err = run("results", *arguments)
    assert run(*arguments) == (
        code,
        out,
        f"`rlccfr {name}` is now `rlccfr results {name}`; the old name works until version 1.1\n{err}",
    )


def test_without_a_command_it_says_what_to_do_first_and_lists_them(run):
    code, out, _ = run()
    assert code == 0
    assert out.startswith("First steps:\n  rlccfr doctor")
    assert all(command in out for command in COMMANDS)


def test_a_shell_completes_commands():
    told = subprocess.run(
        [sys.executable, "-m", "rlccfr"],
        env={**os.environ, "_RLCCFR_COMPLETE": "complete_bash", "COMP_WORDS": "rlccfr expl", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.split() == ["explore"]


def test_version(run):
    assert run("--version")[1] == f"rlccfr {rlccfr.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nope",), 2, "nope"),
        (("solve",), 2, "game"),
        (("solve", "kuhn", "--walls", "3"), 2, "--walls"),
        (("solve", "kuhn", "--iterations", "many"), 2, "--iterations"),
        (("solve", "kunn"), 1, "did you mean 'kuhn'?"),
        (("solve", "kuhn_poker(players=3)"), 1, "3 players"),
        (("solve", "kuhn", "--iterations", "5", "--nodes", "5"), 1, "--iterations and --nodes"),
        (("solve", "kuhn", "--update-rule", "dcfr(gama=1)"), 1, "did you mean 'gamma'?"),
        (("solve", "kuhn", "--update-rule", "dcfr(3)"), 1, "a component looks like"),
        (("solve", "kuhn", "--update-rule", "dcfr(gamma=3,gamma=2)"), 1, "with each hyperparameter at most once"),
        (("solve", "kuhn", "--update-rule", "dcfr(gamma=3)(alpha=2)"), 1, "a component looks like"),
        (("solve", "kuhn", "--update-rule", "dcfr(gamma=3).x(alpha=2)"), 1, "a component looks like"),
        (("solve", "kuhn", "--checkpoint", "/dev/zero"), 1, "it is a device, not a file"),
        (("match", "kuhn", "uniform", "uniform", "--pairs", "-1"), 1, "--pairs must be 0, for exact payoffs, or at"),
        (("solve", "kuhn", "--checkpoint", "/dev/null/x"), 1, "can't write"),
        (("solve", "kuhn", "--policy", "."), 1, "can't write"),
        (
            ("solve", "kuhn", "--policy", "policy.txt"),
            1,
            "a policy's file ends with .csv, .json, .npz, .efg, not with '.txt'",
        ),
        (("solve", "kuhn", "--curve", "/proc/x/curve.csv"), 1, "can't write"),
        (("solve", "kuhn", "--iterations", "99999999999999999999"), 1, "at most 64 bits"),
        (("games", "leduc", "--max-histories", "100"), 1, "--option max-histories=N"),
        (("catalog", "dcf"), 1, "did you mean 'dcfr'?"),
        (("catalog", "poker"), 1, "cfr_plus"),
        (("catalog", "cfr", "external"), 1, "not 2 ids"),
        (
            ("solve", "kuhn", "--update-rule", "external"),
            1,
            "is a sampler, not an update rule: name it as the sampler (--sampler external)",
        ),
        (("solve", "kuhn", "--update-rule", "deep_cfr(preset=sweep)"), 1, "preset='sweep'"),
        (("solve", "kuhn", "--update-rule", "deep_cfr", "--walks", "5"), 1, "set the hyperparameter traversals"),
        (("solve", "kuhn", "--then", "dcfr x external"), 1, "UPDATE_RULE x SAMPLER x ABSTRACTION"),
        (("solve", "kuhn", "--then", "dcfr x externl x none"), 1, "did you mean 'external'?"),
        (("solve", "kuhn", "--then", "cfr x none x none", "--iterations", "1"), 1, "can't be split into 2 segments"),
        (("solve", "kuhn", "--checkpoint-every", "5"), 1, "--option checkpoint-every needs a --checkpoint to write"),
        (("solve", "kuhn", "--then", "cfr x none x none", "--checkpoint", "a.npz"), 1, "leave out --checkpoint"),
        (("train", "kuhn", "--out", "/dev/null"), 1, "can't write"),
        (("solve", "kuhn", "--plot", "curve.doc"), 1, "a picture is written as .png"),
        (("games", "--plot", "tree.png"), 1, "name the game"),
        (("games", "leduc", "--plot", "tree.png"), 1, "can be drawn"),
        (("train", "kuhn", "--preset", "fast"), 1, "unknown preset"),
        (("recommend", "kuhn", "--team", "nowhere"), 1, "rlccfr train 'kuhn'"),
        (("recommend", "kuhn", "--shipped", "--team", "runs/kuhn"), 1, "give one of them"),
        (("results", "table", "kuhn", "--out", "table.doc"), 1, ".md"),
        (("compare", "kuhn", "--out", "table.doc"), 1, ".md"),
        (("compare", "kuhn", "--scale", "cubic"), 1, "log"),
        (("train", "kuhn", "--seconds", "1", "--iterations", "5"), 1, "give one budget"),
        (("train", "kuhn", "--seconds", "1", "--seconds", "0"), 1, "--seconds must be a positive number, not 0"),
        (("results", "table", "--results", "nothing.parquet"), 1, "there is no table at nothing.parquet"),
        (("results", "table", "--results", "."), 1, "there are no measurements in ."),
        (
            ("results", "table", "kuhn", "--seconds", "100"),
            1,
            "the shortest run reached only 1: give a smaller --seconds, or measure",
        ),
        (
            ("results", "report", "page.html", "--policy", "holdem.npz"),
            1,
            "as in \"holdem=policy.npz\", not 'holdem.npz'",
        ),
        (("results", "report", "page.html", "--policy", "holdem(raises=4)"), 1, "not 'holdem(raises=4)'"),
        (("results", "report", "page.html", "--policy", "kuhn=kuhn.npz"), 1, "'kuhn' has neither: leave it out"),
        (
            ("results", "report", "page.html", "--policy", "bluff=none.npz"),
            1,
            "can't read none.npz (No such file or directory)",
        ),
        (
            ("results", "report", "page.html", "--iterations", "20000000"),
            1,
            "not all algorithms ran for 20000000 iterations",
        ),
        (("results", "aslib", "out", "--seconds", "0.1", "--seconds", "1"), 1, "a scenario has one budget"),
        (("results", "aslib", "out", "--game", "kuhn"), 1, "at least two games"),
        (("sweep", "kuhn", "--megabytes", "1"), 1, "megabytes must be at least 64, which a worker's libraries need"),
        (("solve", "kuhn", "--update-rule", "dcfr(gamma=" + "-" * 20_000 + "1)"), 1, "a component looks like"),
        (("solve", "kuhn", "--update-rule", "dcfr(gamma=" + "(" * 2_000), 1, "a component looks like"),
        (("catalog", "k" * 20_000), 1, "unknown component 'kkk"),
        (
            ("results", "insights", "--networks", "fast"),
            1,
            "it has the catalogs paper, tabular and extended-tabular, with the network settings",
        ),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(run, arguments, code, message):
    got, out, err = run(*arguments)
    assert (got, out) == (code, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message.lower() in err.lower()
    assert len(err) < 1_000


def test_games(run):
    rows = json.loads(run("games", "--json")[1])
    seeded = ("random_poker", "random_moves")
    assert [row["name"] for row in rows] == ["kuhn", "leduc", "royal", "goofspiel", *LISTED, *seeded]
    every = [row["name"] for row in json.loads(run("games", "--all", "--json")[1])]
    assert "liars_dice" in every
    assert len(every) == len(set(every))
    assert json.loads(run("games", "leduc", "--json")[1])["infosets"] == 936
    assert "9,457" in run("games", "leduc")[1]


@pytest.mark.slow
def test_pictures_of_a_run_and_of_a_game(run, tmp_path):
    code, out, _ = run("solve", "kuhn", "--iterations", "10", "--plot", "curve.svg")
    assert (code, out.splitlines()[-1]) == (0, "written: curve.svg")
    assert run("games", "kuhn", "--plot", "tree.png")[0] == 0
    assert "controlled(controller='schedule') x none x none" in (tmp_path / "curve.svg").read_text()
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_measurements_for_other_selectors(run, tmp_path):
    code, out = run(
        "results", "aslib", "mine", "--game", "kuhn", "--game", "leduc", "--catalog", "tabular", "--seconds", "0.1"
    )[:2]
    assert (code, out) == (0, "written to mine: 2 games, 112 algorithms, 0.1 seconds\n")
    assert (tmp_path / "mine" / "algorithm_runs.arff").exists()


def test_the_packages_measurements_of_the_extended_catalog(run):
    code, out = run("results", "insights", "kuhn", "--catalog", "extended-tabular", "--seconds", "1", "--json")[:2]
    found = {one["component"] for one in json.loads(out)[0]["effects"]}
    assert (code, {"pcfr_plus", "robust_k"} <= found) == (0, True)


@pytest.mark.slow
def test_catalog(run):
    rows = json.loads(run("catalog", "--json")[1])
    rules, listed = Catalog.extended().update_rules, [row["id"] for row in rows if row["axis"] == "update_rule"]
    assert listed[: len(rules)] == list(rules)
    assert listed[len(rules) :] == [
        *("scheduled", "momentum_dcfr", "sapcfr_plus", "ddcfr_schedule", "cfr_reset", "controlled"),
        *("apcfr_plus", "apdcfr_plus", "vad_cfr", "aod_cfr"),
        *("rtcfr_plus", "stable_pcfr_plus", "smooth_pcfr_plus", "extragradient_cfr_plus"),
    ]
    assert all(row["source"] and row["summary"] for row in rows)
    assert "external" in run("catalog")[1]
    assert "gamma=2.0" in run("catalog", "dcfr")[1]
    assert [row["axis"] for row in json.loads(run("catalog", "none", "--json")[1])] == ["sampler", "abstraction"]
    (known,) = json.loads(run("catalog", "deep_cfr", "external", "none", "--json")[1])
    assert (known["guarantee"], known["cost"], known["needs"]) == ("conditional on fit", "walk + fit", ["torch"])
    assert "theorem 1" in run("catalog", "deep_cfr", "external", "none")[1]
    assert "theorem 1" in run("catalog", "deep_cfr x external x none")[1]
    assert "reservoir sampling" in run("catalog", "deep_cfr")[1]
    assert len(json.loads(run("catalog", "--algorithms", "--json")[1])) == len(Catalog.extended())
    assert "conditional on fit" in run("catalog", "--algorithms")[1]


def test_solve_is_the_solver(run):
    facts = json.loads(
        run("solve", "leduc", "--update-rule", "dcfr(gamma=3)", "--sampler", "external", "--seed", "7", "--json")[1]
    )
    rule = rlccfr.catalog.make("dcfr", gamma=3.0)
    result = rlccfr.Solver(rlccfr.load_game("leduc"), rule, "external", seed=7).run(iterations=1000)
    assert facts["exploitability"] == result.exploitability
    assert facts["nodes_touched"] == result.nodes_touched
    assert not facts["interrupted"]


def test_solve_blends_as_the_solver_does(run):
    facts = json.loads(run("solve", "kuhn", "--update-rule", "dcfr", "--iterations", "100", "--blend", "--json")[1])
    result = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", blend=True).run(iterations=100)
    assert facts["exploitability"] == result.exploitability


@pytest.mark.parametrize("budget", [("iterations", 100), ("nodes", 20_000)])
def test_solve_switches_as_the_segments_of_an_environment_do(run, budget):
    unit, amount = budget
    cells = [Cell("cfr", "external", "none"), Cell("dcfr", "external", "none"), Cell("dcfr(gamma=3)", "none", "none")]
    then = [word for cell in cells[1:] for word in ("--then", str(cell))]
    asked = ("solve", "kuhn", "--update-rule", "cfr", "--sampler", "external", *then, f"--{unit}", str(amount))
    found = json.loads(run(*asked, "--seed", "5", "--json")[1])
    request = Request("kuhn", tuple(cells), Budget(unit, amount), segments=3, seed=5)
    assert found["exploitability"] == LiveEvaluator().measure(request).exploitability
    assert found["segments"] == [cell._asdict() for cell in cells]
    out = run(*asked)[1]
    assert "kuhn: cfr x external x none, then dcfr x external x none, then dcfr x none x none" in out


def printed_command(out, before="run it"):
    (line,) = (line for line in out.splitlines() if line.startswith(f"{before}: rlccfr "))
    return shlex.split(line.removeprefix(f"{before}: rlccfr "))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["leduc", "holdem(ranks=7)"])
def test_recommend_says_where_its_measurements_are_shown(run, game):
    out = run("recommend", game)[1]
    rule = printed_command(out)[printed_command(out).index("--update-rule") + 1]
    code, shown, _ = run(*printed_command(out, "its measurements"))
    assert code == 0
    assert f" {rule} " in shown


@pytest.mark.slow
def test_the_command_that_recommend_prints_repeats_all_segments(run, monkeypatch):
    picks = [(0, 1, 0), (3, 2, 0), (5, 0, 0)]
    monkeypatch.setattr(SelectorTeam, "greedy", lambda team, env, cells=None: picks[env._progress.segment])
    trained = ("--segments", "3", "--iterations", "100", "--evaluations", "3", "--catalog", "tabular")
    assert run("train", "kuhn", *trained, "--engine-seed", "7")[0] == 0
    ask = ("recommend", "kuhn", "--team", "runs/kuhn-100-iterations")
    found = json.loads(run(*ask, "--json")[1])
    again = json.loads(run(*printed_command(run(*ask)[1]), "--json")[1])
    assert again["exploitability"] == found["exploitability"]
    assert again["segments"] == found["segments"]
    assert len({tuple(segment.values()) for segment in found["segments"]}) == 3


def test_solve_prints_for_people(run):
    out = run("solve", "kuhn", "--iterations", "10", "--update-rule", "cfr")[1]
    result = rlccfr.Solver(rlccfr.load_game("kuhn"), "cfr").run(iterations=10)
    shown = [line.split() for line in out.splitlines()]
    assert shown[0] == ["kuhn:", "cfr", "x", "none", "x", "none"]
    for *name, value in (
        ("exploitability", f"{result.exploitability:.4g}"),
        ("NashConv", f"{result.nash_conv:.4g}"),
        ("iterations", "10"),
        ("histories", "touched", f"{result.nodes_touched:,}"),
    ):
        assert [*name, value] in [line[: len(name) + 1] for line in shown], name


def test_solve_goes_on_to_a_target(run):
    facts = json.loads(run("solve", "leduc", "--update-rule", "dcfr", "--target", "1e-3", "--json")[1])
    result = rlccfr.Solver(rlccfr.load_game("leduc"), "dcfr").run(until=1e-3)
    assert facts["exploitability"] == result.exploitability
    assert facts["iterations"] == result.iterations
    assert (facts["target"], facts["reached"]) == (1e-3, True)


def test_a_target_that_is_missed_is_said_in_one_line_after_the_results(run):
    status, out, err = run("solve", "leduc", "--target", "1e-6x", "--iterations", "20")
    assert status == 1
    assert "exploitability" in out
    (line,) = err.splitlines()
    assert re.match(
        "error: the target 2.374e-06 was not reached: the exploitability is .* after the budget; give", line
    )


def test_solve_exactly(run):
    facts = json.loads(run("solve", "leduc", "--exact", "--policy", "exact.csv", "--json")[1])
    found = rlccfr.solve_exactly(rlccfr.load_game("leduc"))
    assert facts["exploitability"] == found.exploitability
    assert facts["value"][0] == found.value
    policy = rlccfr.Policy.load("exact.csv", rlccfr.load_game("leduc"))
    assert np.array_equal(policy.probabilities, found.policy.probabilities)
    assert (facts["exact"], facts["caveat"], facts["rational"]) == (True, None, False)
    out = run("solve", "leduc", "--exact")[1]
    assert "leduc: linear program" in out
    assert "-0.08561" in out
    assert "\nExact: the exploitability is at most 1e-09 of the payoffs' range.\n" in out


def test_a_solution_that_is_not_exact_says_so(run):
    """No double holds probabilities of 1e17 and its like so exactly that an error of 1 does not show."""
    tree = rlccfr.matrix_game([[1e17, 3.0, -7e16], [-1e17, 5e16, 1.0], [2e16, -9e16, 8e16]])
    rlccfr.Policy.uniform(tree).save("large.efg")
    out = run("solve", "large.efg", "--exact")[1]
    assert "\nNot exact: beside payoffs from -1e+17 to 1e+17, double precision hides differences as small as 2: " in out
    facts = json.loads(run("solve", "large.efg", "--exact", "--json")[1])
    assert (facts["exact"], facts["rational"]) == (False, True)
    assert facts["caveat"].startswith("not exact: ")
    assert facts["nash_conv"] == 2 * facts["exploitability"] > 0
    assert "linear program: exploitability" in exact_line("large.efg", solve=True)
    assert facts["caveat"] in exact_line("large.efg", solve=True)


def test_any_way_to_a_target_is_the_sooner_one(run):
    soon = json.loads(run("solve", "leduc", "--target", "0.1", "--any", "--json")[1])
    assert soon["update_rule"]["id"] == "dcfr_plus"  # which rlccfr.solve takes to this target
    late = json.loads(run("solve", "leduc", "--target", "1e-12", "--any", "--json")[1])
    assert late["method"] == "linear program"
    assert late["exploitability"] < 1e-12
    assert late["run_before"]["exploitability"] > 1e-12


def test_any_way_loses_nothing_if_the_program_fails(run, monkeypatch):
    def fail(*_, **__):
        raise rlccfr.RLCCFRError("no program today")

    monkeypatch.setattr(linear_program, "solve_exactly", fail)
    words = ("--target", "1e-12", "--any", "--checkpoint", "run.npz", "--policy", "policy.csv", "--json")
    status, out, err = run("solve", "leduc", *words)
    assert (status, err.splitlines()) == (1, ["error: no program today"])
    assert json.loads(out)["iterations"] == rlccfr.Solver.load("run.npz").result().iterations
    assert rlccfr.Policy.load("policy.csv", rlccfr.load_game("leduc")).exploitability() > 1e-12


def test_a_missed_target_is_in_the_json_too(run):
    status, out, err = run("solve", "leduc", "--target", "1e-9", "--iterations", "20", "--json")
    assert status == 1
    assert json.loads(out)["reached"] is False
    assert err.startswith("error: the target 1e-09 was not reached: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--exact", "--iterations", "5"), "--exact solves a linear program, so --iterations can't be given with it:"),
        (
            ("--exact", "--update-rule", "dcfr"),
            "--exact solves a linear program, so --update-rule can't be given with it:",
        ),
        (("--exact", "--any"), "--exact solves a linear program, so --any can't be given with it:"),
        (("--exact", "--seconds", "0"), "--seconds must be a positive number, not 0"),
        (("--exact", "--seconds", "1e-9"), "was not solved in 1e-09 seconds; allow more time, or iterate instead"),
        (("--target", "0"), "a target must be a positive exploitability"),
        (("--target", "much"), "a target must be a positive exploitability"),
        (("--any",), "--any needs a --target, and takes no budget"),
        (
            ("--any", "--target", "1e-3", "--seconds", "1"),
            "--any needs a --target, and takes no budget",
        ),
        (("--target", "1e-3", "--then", "dcfr x none x none"), "leave out --target or `--option then=...`"),
        (("--sampler", "external", "--blend"), "blends need exact passes and tables"),
    ],
)
def test_what_solve_can_not_do_together_is_one_line(run, words, message):
    status, _, err = run("solve", "leduc", *words)
    assert status == 1
    assert len(err.splitlines()) == 1
    assert message in err


@pytest.mark.slow
def test_recommend_says_how_soon_a_linear_program_would_be_done(run):
    out = run("recommend", "leduc", "--seconds", "1")[1]
    assert "better solve it exactly by a linear program, in about 0.0" in out
    assert out.rstrip().endswith('rlccfr solve "leduc" --exact')
    assert "or solve it exactly by a linear" in run("recommend", "leduc", "--iterations", "100")[1]


@pytest.mark.slow
def test_the_table_of_methods_has_the_exact_solution_for_reference(run):
    out = run("results", "table", "kuhn", "--methods", "--seconds", "1")[1]
    assert re.search(
        r"For reference, kuhn solved exactly by a linear program: about .*, predicted from its size\.", out
    )


def test_a_checkpoint_continues_its_own_run_where_no_algorithm_is_named(run):
    """The best run for another budget, or the run that the user named at first, may be another one."""
    run("solve", "leduc", "--checkpoint", "run.npz", "--iterations", "5")  # too few iterations for blends
    assert not rlccfr.Solver.load("run.npz").blend
    code, _, err = run("solve", "leduc", "--checkpoint", "run.npz", "--iterations", "995")  # a new run would blend
    assert (code, rlccfr.Solver.load("run.npz").result().iterations) == (0, 1000), err
    run("solve", "leduc", "--update-rule", "dcfr", "--checkpoint", "named.npz", "--iterations", "5")
    assert run("solve", "leduc", "--checkpoint", "named.npz", "--target", "0.05")[0] == 0
    assert rlccfr.Solver.load("named.npz").update_rule.id == "dcfr"


def test_older_and_damaged_checkpoints_continue_or_say_what_is_wrong(run):
    def with_header(change):
        arrays = read_archive(Path("run.npz"))
        header = json.loads(str(arrays["header"]))
        change(header)
        Path("changed.npz").write_bytes(archive_of(arrays | {"header": np.array(json.dumps(header))}))
        return run("solve", "kuhn", "--checkpoint", "changed.npz", "--iterations", "5")

    run("solve", "kuhn", "--update-rule", "dcfr", "--checkpoint", "run.npz", "--iterations", "5")
    assert with_header(lambda header: header["options"].pop("blend"))[0] == 0  # blends joined later
    for part in ("game", "components"):
        code, out, err = with_header(lambda header, part=part: header.pop(part))
        assert (code, out) == (1, "")
        assert "is not a complete solver file" in err
    code, out, err = with_header(lambda header: header["components"]["update_rule"].update(id="my_rule"))
    assert (code, out) == (1, "")
    assert err.startswith("error: changed.npz can't be loaded: unknown update rule 'my_rule'")
    assert err.endswith("register the component first, or continue in the folder where the run began\n")


def test_a_checkpoint_is_gone_on_with(run):
    half = ("solve", "leduc", "--sampler", "outcome", "--iterations", "500", "--checkpoint", "run.npz", "--json")
    assert "going on" not in run(*half)[2]
    _, out, err = run(*half)
    assert err.startswith("resuming ")
    second = json.loads(out)
    whole = rlccfr.Solver(rlccfr.load_game("leduc"), "cfr_plus", "outcome").run(iterations=1000)
    assert (second["iterations"], second["exploitability"]) == (1000, whole.exploitability)
    code, _, err = run(*half, "--seed", "1")
    assert code == 1
    assert "another run: its seed is 0; give these settings, or another --checkpoint" in err


def test_a_run_keeps_its_own_seed(run):
    solver = rlccfr.Solver(rlccfr.load_game("leduc"), "dcfr", "external", seed=3)
    solver.run(iterations=20)
    solver.save("run.npz")
    assert run("solve", "leduc", "--checkpoint", "run.npz", "--iterations", "30")[0] == 0
    solver.run(iterations=30)
    assert rlccfr.Solver.load("run.npz").exploitability() == solver.exploitability()
    code, _, err = run("solve", "leduc", "--checkpoint", "run.npz", "--iterations", "5", "--sampler", "outcome")
    assert code == 1
    assert "its update_rule is dcfr(alpha=1.5, beta=0.0, gamma=2.0) and sampler is external; give" in err


def test_an_empty_name_is_no_default(run):
    code, out, err = run("solve", "kuhn", "--update-rule", "", "--iterations", "5")
    assert (code, out) == (1, "")
    assert err.startswith("error: unknown update rule ''")


def test_an_interrupted_solve_keeps_what_it_has(run, monkeypatch):
    shares = []

    @contextmanager
    def impatient(description, below):
        def report(share):
            shares.append(share)
            if share > 0.1:
                raise KeyboardInterrupt

        yield report

    arguments = ("solve", "kuhn", "--iterations", "1000", "--checkpoint", "run.npz", "--json")
    with monkeypatch.context() as patch:
        patch.setattr("rlccfr.cli.commands.solve.progress", impatient)
        code, out, err = run(*arguments)
    assert code == 130
    assert "run.npz has the whole run" in err
    reached = json.loads(out)
    assert reached["interrupted"]
    assert reached["iterations"] == round(1000 * shares[-1]) < 1000
    assert json.loads(run(*arguments)[1])["iterations"] == reached["iterations"] + 1000


def test_a_file_that_can_not_be_written_does_not_cost_the_figures(run, monkeypatch):
    def full(*arguments, **options):
        raise rlccfr.CheckpointError("the disk is full")

    monkeypatch.setattr(rlccfr.Solver, "save", full)
    code, out, err = run("solve", "kuhn", "--iterations", "1000", "--checkpoint", "run.npz", "--json")
    assert (code, err) == (1, "error: the disk is full\n")
    assert json.loads(out)["iterations"] == 1000


def test_solve_writes_policy_and_curve(run, tmp_path):
    import pandas as pd

    run("solve", "kuhn", "--iterations", "1000", "--policy", "policy.csv", "--curve", "curve.csv")
    policy, curve = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("policy", "curve"))
    np.testing.assert_allclose(policy.groupby(["player", "infoset"])["probability"].sum(), 1.0)
    assert curve["iteration"].iloc[-1] == 1000


@pytest.mark.parametrize("suffix", ["csv", "json", "npz"])
def test_a_policy_that_solve_wrote_is_read_back(run, suffix):
    found = json.loads(run("solve", "kuhn", "--iterations", "50", "--policy", f"policy.{suffix}", "--json")[1])
    policy = rlccfr.Policy.load(f"policy.{suffix}", rlccfr.load_game("kuhn"))
    assert policy.exploitability() == found["exploitability"]


SMALL = ("--iterations", "20", "--evaluations", "9", "--preset", "paper-kuhn")
WHERE = "runs/kuhn-20-iterations-paper-kuhn"
ASK = f'recommend "kuhn" --team "{WHERE}"'


@pytest.mark.slow
def test_train_then_recommend(run, tmp_path):
    (trained,) = json.loads(run("train", "kuhn", *SMALL, "--json")[1])
    assert (tmp_path / WHERE / "training.csv").exists()
    out = run("train", "kuhn", *SMALL)[1]
    assert out.endswith(f"9 algorithms measured; the team is in {WHERE}\nask it: rlccfr {ASK}\n")
    recommended = json.loads(run(*shlex.split(ASK), "--json")[1])
    told = {"team": WHERE, "evaluations": 9, "situations": 1}
    told |= {name: recommended[name] for name in ("caveats", "command", "exact_command", "exact_seconds")}
    assert recommended == trained | told
    assert recommended["budget"] == {"unit": "iterations", "amount": 20}
    code, out, err = run(*shlex.split(ASK), "--catalog", "paper")
    assert (code, out) == (1, "")
    assert err == (
        f"error: the team in {WHERE} picks from the catalog that it was trained on: leave out --catalog, or leave "
        "out --team to ask the package\n"
    )
    out = run("recommend", "goofspiel", "--team", WHERE, "--iterations", "10")[1]
    assert 'rlccfr solve "goofspiel"' in out
    assert "--iterations 10" in out
    assert f"by the team in {WHERE}, which has learned from 9 evaluations over 1 situation (game, budget, w" in out
    assert "caution: the team has never seen goofspiel: it learned on kuhn; " in out
    other = ("--catalog", "tabular", "--evaluations", "3", "--preset", "0.7,0.3", "--iterations", "5")
    for _ in range(2):  # the user's own weights are the same the second time
        assert run("train", "kuhn", *other, "--out", "other")[0] == 0
    Path("file").touch()
    code, _, err = run("train", "kuhn", *other, "--out", "file")
    assert code == 1
    assert err.startswith("error: can't write ")
    assert err.endswith("file is a file; name a directory\n")


@pytest.mark.verify
def test_training_again_goes_on_or_refuses(run, tmp_path):
    run("train", "kuhn", *SMALL)
    again = run("train", "kuhn", *SMALL)[1]
    assert "9 algorithms measured" in again
    other = (*SMALL[:-1], "accuracy", "--out", WHERE)
    code, _, err = run("train", "kuhn", *other)
    assert code == 1
    assert "trained with other settings (presets)" in err
    assert "--fresh" in err
    assert run("train", "kuhn", *other, "--fresh")[0] == 0
    file = tmp_path / WHERE / "team.npz"
    file.write_bytes(file.read_bytes()[:-1000])
    err = run("train", "kuhn", *other)[2]
    assert "train the team again with `rlccfr train` and --fresh" in err
    assert run("train", "kuhn", *other, "--fresh")[0] == 0


@pytest.mark.verify
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_interrupted_training_goes_on(tmp_path, heeds_ctrl_c):
    command = [sys.executable, "-m", "rlccfr", "train", "kuhn", "--catalog", "tabular"]
    command += ["--iterations", "20", "--evaluations", "40"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "runs" / "kuhn-20-iterations" / "training.csv"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (log.exists() and len(log.read_text().splitlines()) > 5):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130, err
    assert "the same command continues from there" in err
    assert "Traceback" not in err
    kept = len(list((tmp_path / "runs" / "store").glob("*.json")))
    assert 5 <= kept < 40
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "40 algorithms measured" in done.stdout
    assert len(log.read_text().splitlines()) == 41  # the header and one row per evaluation


@pytest.mark.slow
def test_compare(run, tmp_path):
    arguments = ("kuhn", "--iterations", "20", "--evaluations", "9", "--no-exhaustive")
    rows = json.loads(run("compare", *arguments, "--json", "--out", "table.csv")[1])
    assert {"team", "random search", "CFR", "ES-MCCFR"} <= {row["method"] for row in rows}
    assert (tmp_path / "table.csv").read_text().startswith("game,budget,preset")
    out = run("compare", *arguments)[1]
    assert "not converged" in out
    assert "speed: throughput divided by reference" in out


def test_what_a_comparison_shows_of_speed_agrees(capsys):
    """In each row, throughput over reference is speed, although runs of plain CFR differ between rows."""
    same = {"sampler": "none", "abstraction": "none", "exploitability": 0.1, "regret": 0.0, "converged": True}
    rows = [
        {**same, "method": "CFR", "update_rule": "cfr", "throughput": 447_271.0, "speed": 0.7175, "reward": 0.3},
        {**same, "method": "LCFR", "update_rule": "lcfr", "throughput": 494_261.0, "speed": 0.5379, "reward": 0.2},
    ]
    print_comparison("a game", pd.DataFrame(rows))
    heading, *lines = (line.split() for line in capsys.readouterr().out.splitlines()[1:3])
    for line in lines:
        told = dict(zip(heading, line, strict=True))
        throughput, reference = (float(told[name].replace(",", "")) for name in ("throughput", "reference"))
        assert throughput / reference == pytest.approx(float(told["speed"]), rel=1e-3)


@pytest.mark.verify
def test_the_table_and_the_report_of_a_sweep_of_ones_own(run, tmp_path):
    sweep = ("--catalog", "tabular", "--iterations", "20", "--seconds", "0", "--seeds", "3", "--no-pilot")
    assert run("sweep", "kuhn", *sweep, "--compact", "sweep.parquet")[0] == 0
    asked = ("--results", "sweep.parquet", "--catalog", "tabular", "--iterations", "10", "--iterations", "20")
    rows = json.loads(run("results", "table", *asked, "--json")[1])
    best = [row for row in rows if row["method"] == "VBS"]  # no team is trained to look a table up
    assert [row["budget"] for row in best] == ["10 iterations", "20 iterations"]
    keys = {
        "game", "budget", "preset", "update_rule", "sampler", "abstraction", "exploitability", "throughput", "reward",
        "regret", "in_tied_set", "tied_set_size", "converged",
    }  # fmt: skip
    assert all(keys <= set(row) for row in rows)
    kept = pd.read_parquet("sweep.parquet")
    judging = kept[kept["deterministic"] | (kept["seed"] > 0)]
    for row in best:
        runs = judging
        for axis in AXES:
            runs = runs[runs[axis] == row[axis]]
        index = [list(curve).index(int(row["budget"].split()[0])) for curve in runs["curve_iteration"]]
        reached = [curve[at] for curve, at in zip(runs["curve_exploitability"], index, strict=True)]
        assert row["exploitability"] == pytest.approx(sum(reached) / len(reached))
    assert {row["in_tied_set"] for row in rows} == {True, False}
    for budget in ("10 iterations", "20 iterations"):
        (size,) = {row["tied_set_size"] for row in rows if row["budget"] == budget}
        assert 1 <= size < 112
    code, out, _ = run("results", "table", *asked, "--preset", "paper-kuhn", "--out", "table.html")
    assert code == 0
    assert out.count("paper-kuhn") == 2
    assert "VBS" in (tmp_path / "table.html").read_text()
    assert "VBS" in run("results", "table", *asked, "--methods")[1]
    assert run("results", "report", "page.html", *asked)[:2] == (0, "written to page.html\n")
    assert "Plotly" in (tmp_path / "page.html").read_text()
    assert (
        "but has all runs of 'tabular'" in run("results", "table", "--results", "sweep.parquet")[2]
    )  # it lacks most of the paper's


def test_the_demo_refuses_other_games_and_places_before_it_begins(run):
    refusal = "the demo trains on kuhn, leduc or goofspiel, not on 'royal'; for other games, use `rlccfr train`"
    assert run("demo", "royal") == (1, "", f"error: {refusal}\n")
    assert run("demo", "--evaluations", "0")[::2] == (1, "error: --evaluations must be a positive integer, not 0\n")
    code, out, err = run("demo", "--out", "/dev/null")
    assert (code, out) == (1, "")
    assert err.startswith("error: can't write /dev/null/kuhn.html")


@pytest.mark.slow
def test_the_demo_tells_the_whole_story(run, monkeypatch):
    monkeypatch.setattr(demo, "GAMES", ("kuhn", "goofspiel"))
    monkeypatch.setattr(demo, "ITERATIONS", 10)
    made, begin = [], SelectorTeam.__init__
    monkeypatch.setattr(
        SelectorTeam, "__init__", lambda *args, **kwargs: made.append(kwargs["seed"]) or begin(*args, **kwargs)
    )
    code, out, _ = run("demo", "goofspiel", "--evaluations", "9", "--seed", "3", "--out", "shown")
    assert code == 0
    assert "goofspiel, 10 iterations, preset paper-goofspiel" in out
    assert "may measure 9 of the 112" in out
    assert made[0] == 3
    for word in ("update rule", "sampler", "abstraction", "VBS", "SBS", "random search", "ES-MCCFR", "DCFR"):
        assert word in out
    pages = re.findall(r"^In a browser, .*: file://(.*)$", out, re.MULTILINE)
    assert [Path(page).name for page in pages] == ["goofspiel.html", "report.html"]
    assert {Path(page).parent.name for page in pages} == {"shown"}
    assert all("</html>" in Path(page).read_text() for page in pages)


def test_bars_stay_out_of_pipes(run):
    assert not stderr.is_terminal
    assert run("solve", "kuhn")[2] == ""


@pytest.mark.slow
def test_a_sweep_measures_tells_and_goes_on(run, tmp_path):
    arguments = ("sweep", "kuhn", "--catalog", "tabular", "--seeds", "1", "--seconds", "0", "--iterations", "3")
    assert json.loads(run(*arguments, "--store", "s", "--no-pilot", "--workers", "1", "--json")[1]) == {
        "kuhn": {"ok": 112}
    }
    code, out, _ = run(*arguments, "--store", "s", "--status")
    assert (code, "112" in out) == (0, True)
    code, out, err = run(*arguments, "--store", "s", "--compact", "runs.parquet")  # nothing is left to run
    assert (code, "estimat" in out + err) == (0, False)
    closer = run(*arguments, "--store", "s", "--close", "0.05", "--json")[1]
    assert json.loads(closer) == {"kuhn": {"ok": 112}}  # these algorithms fit no models, and only models get more seeds
    assert run(*arguments, "--store", "t", "--status")[0] == 1
    code, out, err = run(*arguments, "--store", "t", "--import", "runs.parquet", "--json")
    assert json.loads(out) == {"kuhn": {"ok": 112}}
    assert "112 runs imported" in err
    lost = sorted(Path("s").glob("*.json"))[:12]
    for path in lost:
        path.unlink()
    code, _, err = run("results", "table", "--results", "s", "--catalog", "tabular", "--iterations", "3")
    assert (code, "error: s lacks 12 of 112 runs of the catalog 'tabular' on kuhn: continue with" in err) == (1, True)
    command = shlex.split(err.split("`")[1])[1:]
    assert json.loads(run(*command, "--no-pilot", "--workers", "1", "--json")[1]) == {"kuhn": {"ok": 112}}
    assert all(path.exists() for path in lost)
    assert run("sweep", "kuhn", "--seeds", "0")[::2] == (1, "error: --seeds must be a positive integer, not 0\n")


@pytest.mark.verify
@pytest.mark.parametrize(("which", "games"), [("train", TRAIN), ("validation", VALIDATION), ("test", TEST)])
def test_a_sweep_takes_the_members_of_families(run, which, games):
    found = run("sweep", "--families", which, "--store", str(Store("empty").path), "--status", "--json")[1]
    assert set(json.loads(found)) == set(games)


def test_a_sweep_of_other_members_is_refused(run):
    message = "error: --families takes 'train', 'validation' or 'test', not 'small'\n"
    assert run("sweep", "--families", "small")[::2] == (1, message)
    message = "error: --families names the games to measure: leave out the games, or --families\n"
    assert run("sweep", "kuhn", "--families", "test")[::2] == (1, message)


@pytest.mark.slow
def test_a_team_of_ones_own_changes_no_answer_of_the_package(run):
    """One line more says that the team is there, and how to ask it."""
    Path("runs/kuhn").mkdir(parents=True)
    before = run("recommend", "kuhn")
    assert before[0] == 0
    assert "best of" in before[1]
    small = {"update_rules": ["cfr"], "samplers": ["none"], "abstractions": ["none"]}
    SelectorTeam("kuhn", catalog=small, evaluator=LiveEvaluator()).save("runs/kuhn")
    line = 'your team in runs/kuhn knows the game, too: rlccfr recommend "kuhn" --team "runs/kuhn"\n'
    assert run("recommend", "kuhn") == run("recommend", "kuhn", "--shipped") == (0, f"{before[1]}{line}", "")
    assert "team" not in json.loads(run("recommend", "kuhn", "--json")[1])
    assert "your team" not in run("recommend", "leduc")[1]
    assert "picked by the team in runs/kuhn" in run("recommend", "kuhn", "--team", "runs/kuhn")[1]


def test_a_checkpoint_that_another_process_goes_on_writing_is_left_alone(run):
    """The lock is another thread's, which counts as another process."""
    solve = ("solve", "kuhn", "--iterations", "5", "--checkpoint", "run.npz")
    assert run(*solve)[0] == 0
    before, other, holding = Path("run.npz").read_bytes(), ThreadPoolExecutor(1), held_file(Path("run.npz"))
    other.submit(holding.__enter__).result()
    code, out, err = run(*solve)
    assert (code, out) == (1, "")
    assert re.fullmatch(r"error: run.npz is in use by process \d+ .*; wait until it ends, or name another file\n", err)
    with pytest.raises(InUseError):
        rlccfr.Solver(rlccfr.load_game("kuhn")).save("run.npz")
    assert Path("run.npz").read_bytes() == before
    other.submit(holding.__exit__, None, None, None).result()
    assert run(*solve)[2].startswith("resuming run.npz")


def test_the_last_of_two_settings_of_a_switch_counts(run):
    blended = ("solve", "kuhn", "--sampler", "external", "--iterations", "1", "--option", "blend=yes")
    assert run(*blended)[0] == 1  # samplers and blends exclude each other
    assert run(*blended, "--option", "blend=no")[0] == 0
