"""Where records of evaluations are kept: a results folder, with a file a check; committed,
with a file a detector.
"""
