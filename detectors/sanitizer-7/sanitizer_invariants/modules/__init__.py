"""Modules: their parts and their weights."""
