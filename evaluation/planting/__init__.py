"""Faults planted into clean programs: operators, and the oracle that says whether they do harm."""
