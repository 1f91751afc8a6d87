"""All invariants, in the order in which they are told what happens."""

from invariants.stale_gradients import StaleGradients

ALL = (StaleGradients,)
