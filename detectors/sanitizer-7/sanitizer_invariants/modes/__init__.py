"""Modes: training and evaluation, and what a module does in each of them."""
