"""Mechanical cures of what the sanitizer accuses, for benchmarks/template_repairer.py.

Each cure knows the syntax tree of a program and the line of an alarm, and no program of the
catalogue.
"""
