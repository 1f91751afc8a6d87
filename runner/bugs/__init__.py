"""Bugs: what they are made of, and the catalogue that reads them."""
