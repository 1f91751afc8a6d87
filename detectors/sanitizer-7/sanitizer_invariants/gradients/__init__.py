"""Gradients: that there are some, that they are cleared, and how they are clipped."""
