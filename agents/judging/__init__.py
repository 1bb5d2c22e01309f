"""Judging of choices: evidence, statistics, tables, the report."""
