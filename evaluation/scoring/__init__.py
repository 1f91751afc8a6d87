"""Scores of detectors, made from their records."""
