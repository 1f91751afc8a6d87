"""All invariants, in the order in which they are told what happens."""

from invariants.clip import Clip
from invariants.no_gradient import NoGradient
from invariants.recompiles import Recompiles
from invariants.shadow_step import ShadowStep
from invariants.stale_gradients import StaleGradients

ALL = (StaleGradients, ShadowStep, NoGradient, Clip, Recompiles)
