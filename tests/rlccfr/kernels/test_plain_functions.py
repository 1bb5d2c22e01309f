"""What somebody is told whose component's function kernels can't call."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr import Solver
from rlccfr.components import Sampler, UpdateRule
from rlccfr.errors import FailedRunError
from rlccfr.testing import check_update_rule

REWEIGHT = (
    "reweight(instant_regret: float64 (A,), mass: float64, state: float64 (A, k), parameters: float64 (p,), "
    "utility_range: float64) -> None"
)
REWEIGHT_BY_REGRET = REWEIGHT.replace(") -> None", ", regret: float64 (A,)) -> None")
POLICY_MAP = (
    "policy_map(row: float64 (A,), state: float64 (A, k), parameters: float64 (p,), utility_range: float64) -> None"
)
INCLUSION = (
    "inclusion(policy: float64 (A,), count: float64 (A,), parameters: float64 (p,), probability: float64 (A,)) -> None"
)
MIXTURE = "mixture(policy: float64 (A,), count: float64 (A,), visits: float64, parameters: float64 (p,)) -> float64"


def helper(x):
    return x


def unknown_global(row, state, parameters, utility_range):
    row[0] = helper(row[0])


def unknown_attribute(instant_regret, mass, state, parameters, utility_range, regret):
    instant_regret.shrink(regret)


def wrong_index(instant_regret, mass, state, parameters, utility_range):
    instant_regret["first"] = 0.0


def not_supported(policy, count, parameters, probability):
    print(f"{count[0]:.3f}")


def nothing_returned(policy, count, visits, parameters):
    count[0] = visits


counts, shares, sums = [0], {"first": 0.5}, np.zeros(1)


def counting(instant_regret, mass, state, parameters, utility_range):
    counts[0] += 1


def counting_inside():
    """Return a function whose non-local variable is its maker's, which Numba words otherwise."""
    inner = [0]

    def counting_more(instant_regret, mass, state, parameters, utility_range):
        inner[0] += 1

    return counting_more


def summing(row, state, parameters, utility_range):
    sums[0] += row[0]


def looked_up(policy, count, visits, parameters):
    return shares["first"]


def too_few(row, state):
    pass


def seven(instant_regret, mass, state, parameters, utility_range, regret, more):
    pass


def with_default(instant_regret, mass, state, parameters, utility_range, scale=0.5):
    for a in range(len(instant_regret)):
        instant_regret[a] *= scale


def with_any(instant_regret, *rest):
    instant_regret[0] *= 0.5


def subset(inclusion):
    return {"sampler": Sampler(traverser="subset", inclusion=inclusion)}


FAULTS = [
    ({"update_rule": UpdateRule(policy_map=unknown_global)},
     f"Numba can't compile unknown_global as {POLICY_MAP}: Untyped global name 'helper'", "row[0] = helper"),
    ({"update_rule": UpdateRule(reweight=unknown_attribute)},
     f"Numba can't compile unknown_attribute as {REWEIGHT_BY_REGRET}: Unknown attribute 'shrink'", ".shrink(regret)"),
    ({"update_rule": UpdateRule(reweight=wrong_index)},
     f"Numba can't compile wrong_index as {REWEIGHT}: no implementation of setitem(array", '["first"]'),
    (subset(not_supported),
     f"Numba can't compile not_supported as {INCLUSION}: ", ":.3f"),  # Numba's own words depend on Python's version
    ({"sampler": Sampler(traverser="one", exploration=0.5, mixture=nothing_returned)},
     f"Numba can't compile nothing_returned as {MIXTURE}: ", None),
    ({"update_rule": UpdateRule(reweight=counting)},
     f"Numba can't compile counting as {REWEIGHT}: its non-local variable 'counts' has type list; keep state", None),
    ({"update_rule": UpdateRule(reweight=counting_inside())},
     f"Numba can't compile counting_more as {REWEIGHT}: its non-local variable 'inner' has type list; keep st", None),
    ({"update_rule": UpdateRule(policy_map=summing)},
     f"Numba can't compile summing as {POLICY_MAP}: its non-local variable 'sums' has type ndarray; keep state", None),
    ({"sampler": Sampler(traverser="one", exploration=0.5, mixture=looked_up)},
     f"Numba can't compile looked_up as {MIXTURE}: its non-local variable 'shares' has type dict; keep con", None),
    ({"update_rule": UpdateRule(policy_map=too_few)},
     f"too_few(row, state) must take the arguments of {POLICY_MAP}", None),
    ({"update_rule": UpdateRule(reweight=seven)},
     "seven(instant_regret, mass, state, parameters, utility_range, regret, more) must take the arguments "
     f"of {REWEIGHT}, and may take a sixth, regret: float64 (A,)", None),
    ({"update_rule": UpdateRule(reweight=with_default)},
     "with_default(instant_regret, mass, state, parameters, utility_range, scale=0.5) must take the arguments of "
     f"{REWEIGHT}", None),
    ({"update_rule": UpdateRule(reweight=with_any)},
     f"with_any(instant_regret, *rest) must take the arguments of {REWEIGHT}", None),
    ({"update_rule": UpdateRule(policy_map=partial(too_few, 1))},
     "policy_map must be a plain function, not functools.partial", None),
    ({"update_rule": UpdateRule(reweight=np.negative)}, "reweight must be a plain function, not <ufunc", None),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "message", "line"), FAULTS, ids=[message.split("(")[0] for _, message, _ in FAULTS])
def test_the_message_names_function_signature_reason_and_line(parts, message, line):
    with pytest.raises(rlccfr.ComponentError) as error:
        rlccfr.Solver(game("kuhn"), **parts)
    told = str(error.value)
    assert told.startswith(message)
    assert "\n" not in told
    if line:
        sources = Path(__file__).read_text().splitlines()
        number = next(n for n, source in enumerate(sources, 1) if line in source and "message" not in source)
        assert told.endswith(f"(line {number} of {Path(__file__).name})")


@pytest.mark.slow
def test_a_file_may_be_imported_by_another_name_later(tmp_path):
    """Numba keeps the module's name with the machine code, and another process looks for it when it loads the code."""
    (tmp_path / "rules").mkdir()
    source = "def halve(instant_regret, mass, state, parameters, utility_range):\n    instant_regret[0] *= 0.5\n"
    (tmp_path / "rules" / "halving_rule.py").write_text(source)
    for folder, name in ((tmp_path, "rules.halving_rule"), (tmp_path / "rules", "halving_rule")):
        code = f"from {name} import halve; from rlccfr.kernels.plain_functions import reweight_functions as compiled\n"
        code += "compiled(halve)"
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


@pytest.mark.parametrize("rule", [UpdateRule(reweight=np.negative), UpdateRule(policy_map=too_few)])
def test_the_check_says_the_same_of_functions_that_do_not_fit(rule):
    told = []
    for use in (check_update_rule, partial(rlccfr.Solver, game("kuhn"))):
        with pytest.raises(rlccfr.ComponentError) as error:
            use(rule)
        told.append(str(error.value))
    assert told[0] == told[1]


def beyond(instant_regret, mass, state, parameters, utility_range):
    if parameters[0] > 5:
        instant_regret[len(instant_regret)] = 1.0


def refusing(row, state, parameters, utility_range):
    raise ValueError("nothing is good enough")


@pytest.mark.parametrize("sampler", ["none", "external"])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (UpdateRule(reweight=beyond, parameters=(lambda t: 1.0 * t,)), "reweight of .* fails in a run: IndexError"),
        (
            UpdateRule(policy_map=refusing),
            r"policy_map of .*: nothing is good enough \(line \d+ of test_plain_functions.py\)$",
        ),
    ],
)
def test_a_function_that_fails_ends_the_run_with_its_name(rule, message, sampler):
    with pytest.raises(FailedRunError, match=message):
        Solver(game("kuhn"), rule, sampler).run(iterations=10)


def all_ones(row, state, parameters, utility_range):
    row[:] = 1.0


def test_a_policy_map_without_policies_is_named():
    with pytest.raises(
        FailedRunError, match="the policy_map of this UpdateRule does not return a valid policy: probabilities must"
    ):
        Solver(game("kuhn"), UpdateRule(policy_map=all_ones)).run(iterations=10)


def test_a_failing_function_of_the_library_stays_an_error_of_ours(monkeypatch):
    monkeypatch.setattr("rlccfr.engine.exact.ExactStepper.advance", lambda *arguments: {}["lost"])
    with pytest.raises(KeyError, match="lost"):
        Solver(game("kuhn"), "hedge").run(iterations=10)
