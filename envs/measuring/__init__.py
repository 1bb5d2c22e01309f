"""Measurements: what is asked, what answers, and how the answers are kept."""
