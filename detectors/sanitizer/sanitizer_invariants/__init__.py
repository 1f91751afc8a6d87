"""All invariants, in the order in which they are told what happens."""

from sanitizer_invariants.clip import Clip
from sanitizer_invariants.compiled_differs import CompiledDiffers
from sanitizer_invariants.dropout_in_evaluation import DropoutInEvaluation
from sanitizer_invariants.evaluation_depends_on_grad import EvaluationDependsOnGrad
from sanitizer_invariants.lost_parameters import LostParameters
from sanitizer_invariants.mode import Mode
from sanitizer_invariants.no_gradient import NoGradient
from sanitizer_invariants.outer_difference import OuterDifference
from sanitizer_invariants.probabilities_as_logits import ProbabilitiesAsLogits
from sanitizer_invariants.ranks import Ranks
from sanitizer_invariants.recompiles import Recompiles
from sanitizer_invariants.same_batches import SameBatches
from sanitizer_invariants.schedule import Schedule
from sanitizer_invariants.shadow_step import ShadowStep
from sanitizer_invariants.stale_gradients import StaleGradients
from sanitizer_invariants.token_weights import TokenWeights
from sanitizer_invariants.trains_in_evaluation_mode import TrainsInEvaluationMode
from sanitizer_invariants.transparent_checkpoint import TransparentCheckpoint
from sanitizer_invariants.unregistered_module import UnregisteredModule
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
)
