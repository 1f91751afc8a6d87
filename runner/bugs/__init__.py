"""Bugs: the parts of a bug, the format of its config.json, and the catalogue that reads it."""
