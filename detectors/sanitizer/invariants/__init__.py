"""All invariants, in the order in which they are told what happens."""

from invariants.dropout_in_evaluation import DropoutInEvaluation
from invariants.evaluation_depends_on_grad import EvaluationDependsOnGrad
from invariants.mode import Mode
from invariants.outer_difference import OuterDifference
from invariants.probabilities_as_logits import ProbabilitiesAsLogits
from invariants.stale_gradients import StaleGradients

ALL = (
    StaleGradients,
    DropoutInEvaluation,
    EvaluationDependsOnGrad,
    Mode,
    ProbabilitiesAsLogits,
    OuterDifference,
)
