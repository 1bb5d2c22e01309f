import pytest

import rlccfr
from rlccfr.components.combination import why_incompatible
from rlccfr.envs import Cell
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.registry import abstractions, samplers, update_rules


def why_refused(game, *components) -> str | None:
    try:
        rlccfr.Solver(game, *components)
    except rlccfr.ComponentError as error:
        return str(error)
    return None


def test_exactly_the_combinations_that_the_solver_refuses_are_unavailable_to_agents():
    kuhn = rlccfr.load_game("kuhn")
    for rule in update_rules:
        for sampler in ("none", "external", "outcome"):
            for abstraction in abstractions:
                cell = Cell(rule.id, sampler, abstraction.id)
                if rule.id == "controlled":  # agents may not pick it, but it runs
                    continue
                assert why_unavailable(cell) == why_refused(kuhn, *cell)


@pytest.mark.parametrize(
    ("rule", "sampler", "abstraction", "reason"),
    [
        ("controlled", "external", "none", "a controller steers only exact passes: leave out the sampler 'external'"),
        ("controlled", "none", "rcfr", "'controlled' needs tables"),
        ("scheduled(momentum=0.5)", "none", "rcfr", "'scheduled' has momentum, which needs tables"),
        ("scheduled(momentum=0.5)", "external", "none", "'scheduled' with these hyperparameters needs exact passes"),
        ("rtcfr_plus", "none", "cfr_br", "'rtcfr_plus' regularises the values of both players"),
        ("extragradient_cfr_plus", "none", "rcfr", "'extragradient_cfr_plus' needs tables"),
    ],
)
def test_why_components_cannot_be_combined(rule, sampler, abstraction, reason):
    actual_reason = why_incompatible(
        update_rules.resolve(rule), samplers.resolve(sampler), abstractions.resolve(abstraction)
    )
    assert actual_reason is not None
    assert actual_reason.startswith(reason)
