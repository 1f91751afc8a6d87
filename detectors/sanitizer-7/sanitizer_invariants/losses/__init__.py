"""Losses: what they are given, and what they are made of."""
