"""Judging choices: evidence, statistics, tables and the report."""
