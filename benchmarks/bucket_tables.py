"""What the tables of Texas hold'em in buckets cost: ``python -m benchmarks.bucket_tables BUCKETS`` prints it.

Tables that are kept on disk are read, not computed. To measure how long they take, set RLCCFR_CACHE to an empty folder.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from benchmarks.memory import peak_bytes
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.games.bucket_histories.boards import Boards
from rlccfr.games.bucket_histories.bucketing import bucketing_of
from rlccfr.games.bucket_histories.meetings import meetings_of
from rlccfr.games.bucket_histories.strengths import strength_tables
from rlccfr.games.memory import gigabytes
from rlccfr.games.public.deals import Deck

DECK = Deck(ranks=13, suits=4, private=2)
NEW_CARDS = (0, 3, 1, 1)
SECONDS_BETWEEN_LINES = 30.0

Result = TypeVar("Result")


def measured(what: str, compute: Callable[..., Result], *arguments: Any) -> Result:
    """Compute something, and print the CPU seconds that it took and this process's peak memory so far."""
    begin = time.process_time()
    result = compute(*arguments)
    print(f"{what}: {time.process_time() - begin:.1f} CPU s, peak {gigabytes(int(peak_bytes()))}", flush=True)
    return result


class Lines:
    """Prints the share of the work that is done, now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, share: float) -> None:
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(f"  {share:.1%}", flush=True)


def main() -> None:
    """Build the tables of the numbers of buckets on the command line."""
    print(processor_model())
    boards = Boards(DECK, NEW_CARDS)
    measured("boards", lambda: boards.dealt)
    measured("strengths", strength_tables, boards, Lines())
    for buckets in map(int, sys.argv[1:]):
        bucketing = measured(f"{buckets} buckets", bucketing_of, DECK, NEW_CARDS, buckets, Lines())
        what = f"meetings of {bucketing.num_histories[-1]:,} histories"
        meetings = measured(what, meetings_of, bucketing, Lines())
        print(f"deals: {meetings.total:,.0f}")


if __name__ == "__main__":
    main()
