"""Commands on a game represented by OpenSpiel's states that is too large for exploitability."""

from __future__ import annotations

import json

import pytest

PHANTOM = "generated(phantom_ttt)"


@pytest.mark.slow
def test_a_run_is_kept_continued_and_matched(run, tmp_path):
    policy = str(tmp_path / "policy.npz")
    kept = str(tmp_path / "run.npz")
    code, out, _ = run("solve", PHANTOM, "--iterations", "1", "--json", "--policy", policy)
    found = json.loads(out)
    assert (code, found["exploitability"], found["value"], found["reached"]) == (0, None, [None, None], None)
    for iterations in (1, 2):
        code, out, _ = run("solve", PHANTOM, "--iterations", str(iterations), "--checkpoint", kept)
        assert code == 0
        assert "not known, since the game can't be compiled" in out
    code, out, _ = run("match", PHANTOM, policy, kept, "--pairs", "50", "--json")
    assert code == 0
    assert json.loads(out)["pairs"] == 50


def test_a_run_that_keeps_its_networks_is_matched(run, tmp_path):
    kept = str(tmp_path / "run.npz")
    rule = "deep_lcfr(preset='states',traversals=20,train_steps=5,average='value_networks')"
    chosen = ("--update-rule", rule, "--sampler", "external", "--iterations", "2")
    assert run("solve", "generated(kuhn)", *chosen, "--checkpoint", kept)[0] == 0
    code, out, _ = run("match", "generated(kuhn)", kept, "uniform", "--pairs", "20", "--json")
    assert (code, json.loads(out)["pairs"]) == (0, 20)


@pytest.mark.parametrize(
    ("named", "rule", "sampler"),
    [
        (("--sampler", "robust_k"), "deep_lcfr", "robust_k"),
        (("--update-rule", "deep_cfr"), "deep_cfr", "external"),
    ],
)
def test_a_component_that_is_not_named_is_that_of_the_default_run(run, named, rule, sampler):
    code, out, _ = run("solve", "generated(kuhn)", "--iterations", "1", "--json", *named)
    found = json.loads(out)
    assert (code, found["update_rule"]["id"], found["sampler"]["id"]) == (0, rule, sampler)


def test_sizes_are_told(run):
    code, out, _ = run("games", PHANTOM, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["infosets_that_share_a_tensor"] == 0
    assert found["histories_per_external_walk"] > 100_000
    assert found["uniform_exploitability"] is None


@pytest.mark.slow
def test_trained_opponents_give_a_lower_bound(run):
    code, out, _ = run("solve", PHANTOM, "--against", "uniform")
    assert code == 0
    assert "exploitability at least" in out
    assert "by opponents trained by PPO with 40,960 steps each" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", PHANTOM, "--target", "0.1"), "leave out the target, and give a budget"),
        (("solve", PHANTOM, "--seconds", "1", "--plot", "x.png"), "leave out --plot"),
        (("solve", PHANTOM, "--exact"), "no linear program"),
        (("solve", PHANTOM, "--update-rule", "dcfr", "--seconds", "1"), "use a deep rule"),
        (("match", PHANTOM, "uniform", "uniform"), "play matches"),
        (("match", PHANTOM, "uniform", "best", "--pairs", "10"), "play matches"),
        (("solve", PHANTOM, "--against", "uniform", "--policy", "x.npz"), "leave out --policy"),
        (("sweep", PHANTOM, "--seconds", "1"), "choose another game"),
        (("recommend", PHANTOM, "--catalog", "paper"), "leave out catalog"),
        (("recommend", PHANTOM, "--measure", "1s"), "leave out measure"),
        (("compare", PHANTOM), "choose the rule and the sampler yourself"),
        (("train", PHANTOM, "--catalog", "deep_cfr + external"), "choose the rule and the sampler yourself"),
        (("explore", "uniform", "page.html", "--game", PHANTOM), "`rlccfr play`"),
        (("show", "uniform", "--game", PHANTOM), "policy.action_probabilities(state)"),
    ],
)
def test_what_needs_more_is_refused_in_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
