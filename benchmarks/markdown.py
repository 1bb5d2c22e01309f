"""Tables in the documents that commands write."""

from __future__ import annotations

import pandas as pd

from rlccfr.agents.judging.recommendation_table import RecommendationTable


def table(frame: pd.DataFrame) -> list[str]:
    """Return a frame as lines of Markdown."""
    return RecommendationTable(frame).to_markdown().splitlines()
