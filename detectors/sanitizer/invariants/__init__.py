"""All invariants, in the order in which they are told what happens."""

from invariants.clip import Clip
from invariants.lost_parameters import LostParameters
from invariants.no_gradient import NoGradient
from invariants.recompiles import Recompiles
from invariants.schedule import Schedule
from invariants.shadow_step import ShadowStep
from invariants.stale_gradients import StaleGradients
from invariants.token_weights import TokenWeights
from invariants.unregistered_module import UnregisteredModule
from invariants.zero_gradient import ZeroGradient

ALL = (
    StaleGradients, ShadowStep, NoGradient, Clip, Recompiles, LostParameters, UnregisteredModule, Schedule,
    ZeroGradient, TokenWeights,
)  # fmt: skip
