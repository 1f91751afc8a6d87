"""Evaluation of bug detectors on bugs, their fixed twins and clean controls."""
