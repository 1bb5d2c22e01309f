"""Abstractions that merge infosets into buckets: all infosets of a bucket share its table entries and its policy."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from rlccfr.components import Abstraction, Guarantee
from rlccfr.errors import ComponentError
from rlccfr.registry import abstraction

if TYPE_CHECKING:
    import numpy as np

    from rlccfr.game import Game

_LOSSY = "buckets lose information: only the exploitability inside the abstraction goes to 0 (Waugh et al. 2009)"


def _buckets(path: str, game: Game, **settings: Any) -> np.ndarray:
    """Return a game's buckets, from the function at ``path``; this function's module is imported only on the call."""
    buckets: np.ndarray = resolve_name(path)(game, **settings)
    return buckets


@abstraction(
    "suits",
    source="Gilpin and Sandholm, Lossless abstraction of imperfect information games, Journal of the ACM 2007; found "
    "by colour refinement, Grohe et al., ESA 2014",
    guarantee=Guarantee(
        exact="Gilpin and Sandholm 2007: the abstraction is lossless",
        sampled="Gilpin and Sandholm 2007: the abstraction is lossless",
    ),
    aliases=("suit isomorphism", "lossless abstraction"),
)
def suits() -> Abstraction:
    """Lossless buckets: infosets that symmetries of the game map onto each other, such as permutations of suits.

    An equilibrium of the merged game is also an equilibrium of the original game. Symmetries are found in the sequence
    form, so symmetries other than permutations of suits are used, too. Games whose symmetries exchange actions are not
    supported.
    """
    return Abstraction(buckets=partial(_buckets, "rlccfr.games.merging.symmetric:symmetric_buckets"))


@abstraction(
    "equity",
    source="Johanson, Burch, Valenzano and Bowling, Evaluating state-space abstractions in extensive-form games, AAMAS "
    "2013 (percentile E[HS^2]); Zinkevich et al., NIPS 2007",
    bounds={"buckets": (1.0, 1e6)},
    guarantee=Guarantee(exact_open=_LOSSY, sampled_open=_LOSSY),
    aliases=("E[HS^2]", "percentile buckets"),
)
def equity(buckets: int = 5, respond: bool = False) -> Abstraction:
    """Percentile buckets of private states by their expected squared hand strength, for poker.

    HS = P(win) + P(tie) / 2 against what the opponent may hold, and E[HS^2] is the mean over the public cards that may
    still come. Each round splits each bucket of the previous round into ``buckets`` parts of equal mass, up to ties, so
    that players have perfect recall. Boards are not distinguished. So the exploitability in the game itself stays above
    0, however long the run is; only the exploitability inside the abstraction goes to 0. The game must have a public
    tree and showdowns. On a game that is solved by its public tree, samplers draw buckets, and all rules without
    networks run; the abstract game deals no public cards, so public_chance draws nothing. With respond, each player
    learns against a best response in the game itself, without buckets: CFR-BR, Johanson et al., AAAI 2012. CFR-BR
    converges to the least exploitable policies that the buckets allow. It needs exact passes and rules without
    networks; both players are updated at once.
    """
    equity_buckets = partial(_buckets, "rlccfr.games.merging.percentiles:equity_buckets", buckets=buckets)
    return Abstraction(best_response=respond, buckets=equity_buckets)


@abstraction(
    "kmeans",
    source="Johanson, Burch, Valenzano and Bowling, Evaluating state-space abstractions in extensive-form games, AAMAS "
    "2013 (k-means on hand strength distributions)",
    bounds={"buckets": (1.0, 1e6)},
    guarantee=Guarantee(exact_open=_LOSSY, sampled_open=_LOSSY),
    aliases=("k-means",),
)
def kmeans(buckets: int = 5, features: str = "histogram", respond: bool = False) -> Abstraction:
    """Buckets of private states by k-means on what their hand strengths may become; needs scikit-learn.

    features is "histogram", the cumulative histogram, in ten bins, of the hand strength after the last public card; or
    "moments", the means of this strength and of its square. All else is as in equity. Differs from the source in the
    distance: here, the squared distance of cumulative histograms; there, the earth mover's distance of histograms.
    """
    if features not in ("histogram", "moments"):
        raise ComponentError(f"features must be 'histogram' or 'moments', not {features!r}")
    path = "rlccfr.games.merging.kmeans:kmeans_buckets"
    return Abstraction(best_response=respond, buckets=partial(_buckets, path, buckets=buckets, features=features))
