"""Optimizers: which parameters they move, and by which numbers."""
