"""A damaged file gives an error of one line or its old content: never other numbers, a hang or a crash."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from file_kinds import KINDS, Said

from rlccfr.errors import RLCCFRError

CHANGES = {False: 1500, True: 72_000}
"""Number of damaged versions per kind of file, and at scale; of kinds that are slow to read, a quarter."""

OTHER = "other numbers"


def changed(data: bytes, draws: random.Random) -> tuple[str, bytes]:
    """Damage a file as a disk or a person might: flip a bit, cut the end off, overwrite a piece or leave it out."""
    at, kind = draws.randrange(len(data)), draws.choice(("bit", "bit", "cut", "overwritten", "left out"))
    if kind == "bit":
        return kind, data[:at] + bytes([data[at] ^ (1 << draws.randrange(8))]) + data[at + 1 :]
    if kind == "cut":
        return kind, data[:at]
    length = draws.randint(1, 64)
    new = draws.randbytes(length) if kind == "overwritten" else b""
    return kind, data[:at] + new + data[at + length :]


def agrees(found: Said, expected: Said, tolerance: float) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[name], expected[name], equal_nan=found[name].dtype.kind == "f")
        or (tolerance > 0 and np.allclose(found[name], expected[name], rtol=0, atol=tolerance))
        for name in expected
    )


@pytest.mark.verify
@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_an_error_or_what_it_was(tmp_path, figures, at_scale, name):
    kind = KINDS[name]
    path = kind.make(tmp_path)
    data, expected, draws = path.read_bytes(), kind.says(path), random.Random(name)
    changes, counts, wrong = CHANGES[at_scale] // (4 if kind.is_slow else 1), Counter[str](), []
    for number in range(changes):
        how, other = changed(data, draws)
        path.write_bytes(other)
        try:
            outcome = "as it was" if agrees(kind.says(path), expected, kind.tolerance) else OTHER
        except RLCCFRError as error:
            outcome = "errors of one line" if "\n" not in str(error) else "errors of more lines"
        except Exception as error:  # counted, and told with the number of the change, which makes it again
            outcome = "tracebacks"
            wrong.append(f"{number} ({how}): {error!r}")
        counts[outcome] += 1
        if outcome == OTHER:
            wrong.append(f"{number} ({how})")
    path.write_bytes(data)
    names = ("errors of one line", "as it was", OTHER, "errors of more lines", "tracebacks")
    row = {"bytes": len(data), "changed": changes, **{name: counts[name] for name in names}}
    figures(f"Damaged file: {name}", [row], "; ".join(filter(None, [kind.note, *wrong[:5]])))
    assert counts["errors of one line"] > changes / 2
    assert counts["errors of more lines"] == counts["tracebacks"] == 0, wrong[:5]
    assert kind.is_input or not counts[OTHER], wrong[:5]
