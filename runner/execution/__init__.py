"""Execution of runs on this machine."""
