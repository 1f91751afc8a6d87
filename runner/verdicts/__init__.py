"""Verdicts on run records; pure functions, which read and write nothing."""
