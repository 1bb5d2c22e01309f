"""Sampled walks through the history view."""
