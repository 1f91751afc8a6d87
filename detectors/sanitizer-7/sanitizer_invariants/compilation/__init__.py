"""Compilation: compiled code does what the same code does uncompiled, and stays compiled."""
