"""Exact passes over the sequence form."""
