"""Public-tree games on the command line."""

from __future__ import annotations

import json

import matplotlib
import pytest

import rlccfr

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"


def test_a_game_is_described(run):
    facts = json.loads(run("games", SMALL, "--json")[1])
    assert facts["infosets"] == 352
    assert facts["big_blind"] == 2
    assert facts["uniform_exploitability"] > 1
    assert "public_nodes" in run("games", SMALL)[1]


def test_a_target_in_thousandths_of_a_big_blind(run):
    code, out, _ = run("solve", SMALL, "--update-rule", "dcfr_plus", "--target", "10mbb", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["mbb"] == pytest.approx(500 * facts["exploitability"])
    assert facts["mbb"] <= 10
    assert facts["target"] == pytest.approx(0.02)
    assert "in mbb/g" in run("solve", SMALL, "--iterations", "3")[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", [SMALL, "leduc(ranks=2)"])
def test_results_of_all_ways_are_in_thousandths_of_a_big_blind(run, name):
    big_blind = rlccfr.load_game(name).big_blind
    exactly = () if name == SMALL else (("--exact",),)
    for how in (
        ("--iterations", "5"),
        ("--update-rule", "dcfr", "--iterations", "5"),
        ("--against", "uniform"),
        *exactly,
    ):
        facts = json.loads(run("solve", name, *how, "--json")[1])
        assert facts["mbb"] == pytest.approx(1000 * facts["exploitability"] / big_blind)
        assert "in mbb/g" in run("solve", name, *how)[1]


def test_a_run_goes_on_from_its_checkpoint(run, tmp_path):
    part = ("solve", SMALL, "--update-rule", "pdcfr_plus", "--json", "--checkpoint", "run.npz", "--iterations", "20")
    run(*part)
    split = json.loads(run(*part)[1])
    whole = json.loads(run("solve", SMALL, "--update-rule", "pdcfr_plus", "--json", "--iterations", "40")[1])
    assert split["iterations"] == whole["iterations"] == 40
    assert split["exploitability"] == whole["exploitability"]


def test_policies_curves_and_switches(run, tmp_path):
    then = ("--then", "dcfr_plus x none x none")
    code, _, err = run("solve", SMALL, "--iterations", "20", *then, "--policy", "policy.csv", "--curve", "curve.csv")
    assert (code, err) == (0, "")
    assert "infoset" in (tmp_path / "policy.csv").read_text()
    assert (tmp_path / "curve.csv").read_text().count("\n") > 10


@pytest.mark.parametrize(
    ("name", "labels"), [(SMALL, ("fold", "raise", "2", "5")), ("bluff", ("1 of 5", "probability", "*"))]
)
def test_a_picture_of_the_first_decision(run, tmp_path, monkeypatch, name, labels):
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")  # text stays text
    assert run("solve", name, "--iterations", "10", "--picture", "first.svg")[0] == 0
    picture = (tmp_path / "first.svg").read_text()
    for label in ("player 0 at the first decision", *labels):
        assert f">{label}</text>" in picture


def test_a_picture_needs_hands_or_rolls(run, tmp_path):
    code, out, err = run("solve", "kuhn", "--iterations", "10", "--picture", "first.svg")
    assert (code, out) == (1, "")
    assert "'kuhn' has neither" in err
    assert not (tmp_path / "first.svg").exists()


def test_a_schedule_is_named_like_a_controllers_file(run):
    code, out, _ = run("solve", SMALL, "--controller", "schedule", "--iterations", "20", "--json")
    assert code == 0
    assert "controlled(controller='schedule')" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--exact",), "there is no linear program"),
        (("--any", "--target", "1e-3"), "there is no linear program"),
        (
            ("--iterations", "3", "--sampler", "external"),
            "samplers can draw only chance outcomes: use sampler='public_chance'",
        ),
        (
            ("--iterations", "3", "--update-rule", "hedge"),
            "'hedge' does not run, since it changes regrets or policies by functions of its own: use dcfr_plus",
        ),
        (("--iterations", "3", "--control"), "use the controller 'schedule', which reads only the run's progress"),
        (("--iterations", "3", "--abstraction", "rcfr"), "regrets are stored in tables, not fitted"),
        (("--iterations", "3", "--simultaneous"), "players are updated in alternation"),
        (("--iterations", "3", "--policy", "p.json"), "is written as .npz or .csv, not as .json"),
        (("--iterations", "3", "--picture", "p.doc"), "a picture is written as .png"),
        (("--iterations", "3", "--max-histories", "10"), "apply only to trees of histories"),
        (("--target", "10mbbx"), "a target must be a positive exploitability"),
    ],
)
def test_what_does_not_run_is_refused(run, arguments, message):
    code, out, err = run("solve", SMALL, *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_blends_tell_their_memory_and_time(run, monkeypatch):
    arguments = ("solve", SMALL, "--update-rule", "dcfr", "--iterations", "400", "--option", "blend=yes")
    code, out, err = run(*arguments, "--json")
    facts = json.loads(out)
    assert code == 0
    assert err.startswith("blends use up to ")
    assert 0 < facts["blending_seconds"] < facts["cpu_seconds"]
    assert "; blends took " in run(*arguments)[1]
    monkeypatch.setattr("rlccfr.engine.public.mixer.available_memory", lambda: 0)
    code, out, err = run(*arguments, "--json")
    assert code == 0
    assert "runs without blends: they need " in err
    assert err.count("\n") == 1
    assert json.loads(out)["exploitability"] > facts["exploitability"]


def test_targets_need_a_big_blind(run):
    code, _, err = run("solve", "kuhn", "--target", "10mbb")
    assert code == 1
    assert "'kuhn' has no big blind" in err


@pytest.mark.parametrize(
    ("options", "counted"),
    [
        ((), "private states met"),
        (("--abstraction", "equity(buckets=2)"), "histories touched"),
        pytest.param(("--abstraction", "equity(buckets=2,respond=True)"), "private states met", marks=pytest.mark.slow),
        pytest.param(
            ("--abstraction", "equity(buckets=2)", "--then", "cfr x none x equity(buckets=2,respond=True)"),
            "histories touched and private states met",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_a_run_touches_is_named(run, options, counted):
    code, out, _ = run("solve", SMALL, "--iterations", "4", "--update-rule", "cfr", *options)
    assert code == 0
    cells = [cell.strip() for line in out.splitlines() for cell in line.split("  ") if cell.strip()]
    assert counted in cells


@pytest.mark.slow
def test_a_team_picks_from_the_catalog_of_the_games_form(run):
    (trained,) = json.loads(run("train", SMALL, "--iterations", "5", "--evaluations", "2", "--json")[1])
    assert trained["update_rule"] in rlccfr.catalog.Catalog.public().update_rules
    code, _, err = run("train", "kuhn", SMALL)
    assert code == 1
    assert "the default catalog is 'paper' for 'kuhn' and 'public' for " in err
