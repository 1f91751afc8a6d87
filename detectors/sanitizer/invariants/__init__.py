"""All invariants, in the order in which they are told what happens."""

from invariants.clip import Clip
from invariants.compiled_differs import CompiledDiffers
from invariants.dropout_in_evaluation import DropoutInEvaluation
from invariants.evaluation_depends_on_grad import EvaluationDependsOnGrad
from invariants.lost_parameters import LostParameters
from invariants.mode import Mode
from invariants.no_gradient import NoGradient
from invariants.outer_difference import OuterDifference
from invariants.probabilities_as_logits import ProbabilitiesAsLogits
from invariants.ranks import Ranks
from invariants.recompiles import Recompiles
from invariants.same_batches import SameBatches
from invariants.schedule import Schedule
from invariants.shadow_step import ShadowStep
from invariants.stale_gradients import StaleGradients
from invariants.token_weights import TokenWeights
from invariants.trains_in_evaluation_mode import TrainsInEvaluationMode
from invariants.transparent_checkpoint import TransparentCheckpoint
from invariants.unregistered_module import UnregisteredModule
from invariants.zero_gradient import ZeroGradient

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
