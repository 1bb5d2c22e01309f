"""Random numbers for walks, from one generator per solver; its whole state is one word in an array that is saved.

Source: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The state
grows by a constant at each draw, and the output is the state with its bits mixed.
"""

from __future__ import annotations

import numpy as np

from rlccfr.kernels.jit import inlined

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""The constant by which the state grows at each draw."""

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

# Numbers of bits, of the type of what they shift.
_SHIFT_30 = np.uint64(30)
_SHIFT_27 = np.uint64(27)
_SHIFT_31 = np.uint64(31)
_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


@inlined
def _mixed(word):
    """Return the generator's output, a uint64, for a state, which is also a uint64."""
    word = (word ^ (word >> _SHIFT_30)) * _MIX_1
    word = (word ^ (word >> _SHIFT_27)) * _MIX_2
    return word ^ (word >> _SHIFT_31)


@inlined
def random_word(rng):
    """Return a random uint64, and advance ``rng``, a uint64 array (1,), in place."""
    rng[0] += _GOLDEN_GAMMA
    return _mixed(rng[0])


@inlined
def uniform(rng):
    """Return a double in [0, 1), and advance ``rng``, a uint64 array (1,), in place."""
    return np.float64(random_word(rng) >> _SHIFT_11) * _UNIT


@inlined
def uniform_at(word, number):
    """Return a double in [0, 1) that depends only on a random word and on a number of at least 0.

    It is what the generator returns at draw ``number``, counted from 0, if it starts with the word as its state.
    """
    return np.float64(_mixed(word + np.uint64(number + 1) * _GOLDEN_GAMMA) >> _SHIFT_11) * _UNIT


@inlined
def draw(probabilities, first, count, rng):
    """Return k drawn with probability ``probabilities[first + k]``, 0 <= k < count; never one with probability 0."""
    remaining = uniform(rng)
    for k in range(count):
        remaining -= probabilities[first + k]
        if remaining < 0.0:
            return k
    # Rounding made the sum smaller than 1: take the last k that is possible.
    drawn = count - 1
    while drawn > 0 and probabilities[first + drawn] == 0.0:
        drawn -= 1
    return drawn
