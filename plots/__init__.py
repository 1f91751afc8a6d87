"""Figures from run records; nothing here runs a bug or needs torch."""
