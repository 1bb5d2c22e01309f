"""The form of hold'em games in buckets, in a module of its own, so that names of games load none of what serves it."""

from __future__ import annotations

from rlccfr.game import Form, TargetRun

BUCKET_HISTORIES = Form(
    title="by its bucket histories",
    visited="bucket histories met",
    has_histories=False,
    catalogs=("schedules",),
    policy="rlccfr.policies.bucket_history_policy:BucketHistoryPolicy",
    run_tables="rlccfr.engine.bucket_histories.tables:BucketHistoryTables",
    steppers="rlccfr.engine.bucket_histories.stepper:STEPPERS",
    check_components="rlccfr.engine.bucket_histories.tables:check_components",
    table="rlccfr.play.bucket_history_table:BucketHistoryTable",
    played_pairs="rlccfr.policies.bucket_history_matches:played_pairs",
    best_run={"update_rule": "dcfr_plus"},
    target_runs=(TargetRun({"update_rule": "dcfr_plus"}),),
)
"""The form of hold'em games in buckets."""
