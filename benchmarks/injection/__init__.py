"""Faults that are injected into the program while it runs toy bugs,
and the judgement of what they do to it.
"""
