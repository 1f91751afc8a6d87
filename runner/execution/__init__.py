"""Execution of runs: what a run is, and how many are executed on this machine at a time."""
