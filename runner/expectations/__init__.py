"""Expectations: statements about the records of runs, and their evaluation."""
