"""Repairs: patched buggy programs, run in the place of the fixed twin and judged by its oracle.

`tasks` writes the programs, `patches` reads what came back, `refusals` says which patches are no
repairs, `grading` runs the others and judges them.
"""
