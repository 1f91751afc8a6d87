"""All invariants, in the order in which they are told what happens."""

from invariants.compiled_differs import CompiledDiffers
from invariants.dropout_in_evaluation import DropoutInEvaluation
from invariants.evaluation_depends_on_grad import EvaluationDependsOnGrad
from invariants.mode import Mode
from invariants.outer_difference import OuterDifference
from invariants.probabilities_as_logits import ProbabilitiesAsLogits
from invariants.ranks import Ranks
from invariants.same_batches import SameBatches
from invariants.stale_gradients import StaleGradients
from invariants.trains_in_evaluation_mode import TrainsInEvaluationMode
from invariants.transparent_checkpoint import TransparentCheckpoint

ALL = (
    StaleGradients,
    DropoutInEvaluation,
    EvaluationDependsOnGrad,
    Mode,
    ProbabilitiesAsLogits,
    OuterDifference,
    SameBatches,
    Ranks,
    TrainsInEvaluationMode,
    CompiledDiffers,
    TransparentCheckpoint,
)
