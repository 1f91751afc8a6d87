"""All invariants, in the order in which they are told what happens: those of version 1, and those of version 2."""

from sanitizer_invariants.backward_draws import BackwardDraws
from sanitizer_invariants.bounded_logits import BoundedLogits
from sanitizer_invariants.clip import Clip
from sanitizer_invariants.clip_after_step import ClipAfterStep
from sanitizer_invariants.compiled_differs import CompiledDiffers
from sanitizer_invariants.constant_term import ConstantTerm
from sanitizer_invariants.dropout_in_evaluation import DropoutInEvaluation
from sanitizer_invariants.evaluation_depends_on_grad import EvaluationDependsOnGrad
from sanitizer_invariants.focal_of_mean import FocalOfMean
from sanitizer_invariants.frozen_moves import FrozenMoves
from sanitizer_invariants.input_scale import InputScale
from sanitizer_invariants.loads_itself import LoadsItself
from sanitizer_invariants.loads_nothing import LoadsNothing
from sanitizer_invariants.log_probabilities import LogProbabilities
from sanitizer_invariants.lost_parameters import LostParameters
from sanitizer_invariants.mixed_samples import MixedSamples
from sanitizer_invariants.mode import Mode
from sanitizer_invariants.negated_loss import NegatedLoss
from sanitizer_invariants.never_steps import NeverSteps
from sanitizer_invariants.no_evaluation_mode import NoEvaluationMode
from sanitizer_invariants.no_gradient import NoGradient
from sanitizer_invariants.order_of_samples import OrderOfSamples
from sanitizer_invariants.outer_difference import OuterDifference
from sanitizer_invariants.padding_leaks import PaddingLeaks
from sanitizer_invariants.probabilities_as_logits import ProbabilitiesAsLogits
from sanitizer_invariants.ranks import Ranks
from sanitizer_invariants.recompiles import Recompiles
from sanitizer_invariants.rounded_away import RoundedAway
from sanitizer_invariants.same_batches import SameBatches
from sanitizer_invariants.scaled_clip import ScaledClip
from sanitizer_invariants.schedule import Schedule
from sanitizer_invariants.shadow_step import ShadowStep
from sanitizer_invariants.shared_state import SharedState
from sanitizer_invariants.skipped_token import SkippedToken
from sanitizer_invariants.stale_gradients import StaleGradients
from sanitizer_invariants.stale_workers import StaleWorkers
from sanitizer_invariants.stuck_together import StuckTogether
from sanitizer_invariants.swapped_arguments import SwappedArguments
from sanitizer_invariants.token_weights import TokenWeights
from sanitizer_invariants.trains_in_evaluation_mode import TrainsInEvaluationMode
from sanitizer_invariants.transparent_checkpoint import TransparentCheckpoint
from sanitizer_invariants.unregistered_module import UnregisteredModule
from sanitizer_invariants.unused_schedule import UnusedSchedule
from sanitizer_invariants.vanished_rate import VanishedRate
from sanitizer_invariants.zero_gradient import ZeroGradient

ALL = (
    StaleGradients,
    ShadowStep,
    NoGradient,
    Clip,
    Recompiles,
    LostParameters,
    UnregisteredModule,
    Schedule,
    DropoutInEvaluation,
    EvaluationDependsOnGrad,
    Mode,
    TrainsInEvaluationMode,
    ProbabilitiesAsLogits,
    OuterDifference,
    SameBatches,
    Ranks,
    CompiledDiffers,
    TransparentCheckpoint,
    ZeroGradient,
    TokenWeights,
    ScaledClip,
    ClipAfterStep,
    ConstantTerm,
    FocalOfMean,
    BoundedLogits,
    LogProbabilities,
    SwappedArguments,
    OrderOfSamples,
    MixedSamples,
    PaddingLeaks,
    SkippedToken,
    InputScale,
    NoEvaluationMode,
    StaleWorkers,
    LoadsNothing,
    LoadsItself,
    SharedState,
    FrozenMoves,
    RoundedAway,
    StuckTogether,
    BackwardDraws,
    VanishedRate,
    UnusedSchedule,
    NeverSteps,
    NegatedLoss,
)
