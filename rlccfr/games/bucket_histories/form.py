"""The form of hold'em games in buckets, in its own module, so that the list of forms does not import these games."""

from __future__ import annotations

from rlccfr.game import Form
from rlccfr.games.target_runs import ON_BUCKET_HISTORIES

BUCKET_HISTORIES = Form(
    title="by its bucket histories",
    visited="bucket histories met",
    has_histories=False,
    catalogs=("buckets", "schedules"),
    policy="rlccfr.policies.bucket_history_policy:BucketHistoryPolicy",
    run_tables="rlccfr.engine.bucket_histories.tables:BucketHistoryTables",
    steppers="rlccfr.engine.bucket_histories.stepper:STEPPERS",
    check_components="rlccfr.engine.bucket_histories.tables:check_components",
    states="rlccfr.policies.bucket_history_figures:states_of_bucket_histories",
    gains="rlccfr.policies.bucket_history_figures:gains_of_betting_paths",
    page="rlccfr.explorer.bucket_history_points:bucket_history_page",
    states_below="rlccfr.explorer.bucket_history_points:num_states_below",
    table="rlccfr.play.bucket_history_table:BucketHistoryTable",
    played_pairs="rlccfr.policies.bucket_history_matches:played_pairs",
    sizes_before_loading="rlccfr.games.bucket_histories.names:sizes_before_loading",
    iteration_cost="rlccfr.engine.bucket_histories.sweeps:iteration_cost",
    # Measured by `rlccfr reproduce texas`. With 5 buckets, sampling is ahead for as long as about 50 exact iterations
    # take; with 8 buckets, it is still ahead after the time of 89. Of the exact runs, those with `dcfr` are ahead after
    # 60 CPU seconds and after 600.
    best_run={"update_rule": "dcfr"},
    short_run={"update_rule": "lcfr", "sampler": "public_chance"},
    least_passes=100,
    target_runs=ON_BUCKET_HISTORIES,
    chosen_by=(
        "in single runs with 5 and with 8 buckets, sampling of boards was ahead of exact passes in budgets of fewer "
        "than about 100 exact iterations, and dcfr was ahead in longer ones (`rlccfr reproduce texas`)"
    ),
    instead={
        "merge": "leave out the abstraction, and set the buckets in the game's name, as in 'texas_holdem(buckets=8)'",
        "lock": "lock a game that is small enough for a public tree, such as flop_holdem",
        "features": "solve it by `rlccfr solve`, which picks an algorithm, or compare algorithms by `rlccfr sweep`",
    },
)
"""The form of hold'em games in buckets."""
