"""Metrics: objects with `update`, `compute` and `reset`."""
