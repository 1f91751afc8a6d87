"""Checkpoints: of states that are loaded, and of activations that are computed again."""
