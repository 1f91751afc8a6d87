"""Verdicts on run records; pure functions."""
