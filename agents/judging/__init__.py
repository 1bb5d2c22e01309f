"""Judging how good choices of algorithms are: evidence, statistics, tables and the report."""
