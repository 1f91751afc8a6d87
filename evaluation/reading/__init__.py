"""Which records of evaluations count: by source, by code, by program, and how many are left out."""
