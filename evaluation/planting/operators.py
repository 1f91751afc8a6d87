"""All operators, and faulty programs made by them."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.planting import deepcrime, gradients, losses, missing_calls
from evaluation.planting.edits import Operator
from evaluation.planting.seed_operators import operator_names
from evaluation.rewriting import choice
from evaluation.rewriting.layout import parse_program, write_program

BACKWARD, DETACH = "torch.Tensor.backward", "torch.Tensor.detach"
CROSS_ENTROPY = "torch.nn.functional.cross_entropy"
LOADER = "torch.utils.data.DataLoader.__init__"
OPTIMIZER = "torch.optim.Optimizer.__init__"
STEP, ZERO_GRAD = "torch.optim.Optimizer.step", "torch.optim.Optimizer.zero_grad"

# DeepCrime's: a program whose fault it is that a choice is bad counts where it does harm.
_DEEPCRIME: tuple[Operator, ...] = (
    Operator(
        "dc-change-label",
        "half of the labels are their neighbours'",
        CROSS_ENTROPY,
        deepcrime.change_label,
    ),
    Operator(
        "dc-delete-training-data",
        "nine tenths of the training data are left out",
        LOADER,
        deepcrime.delete_training_data,
    ),
    Operator(
        "dc-add-noise",
        "noise is added to the inputs",
        "torch.randn_like",
        deepcrime.add_noise,
    ),
    Operator(
        "dc-change-batch-size",
        "batches are eight times as large",
        LOADER,
        deepcrime.change_batch_size,
    ),
    Operator(
        "dc-disable-batching",
        "one batch holds all data",
        LOADER,
        deepcrime.disable_batching,
    ),
    Operator(
        "dc-change-learning-rate",
        "the learning rate is a thousandth",
        OPTIMIZER,
        deepcrime.change_learning_rate,
    ),
    Operator(
        "dc-change-activation",
        "an activation is a sigmoid",
        "torch.nn.Sigmoid",
        deepcrime.change_activation,
    ),
    Operator(
        "dc-remove-activation",
        "an activation is left out",
        "torch.nn.Identity",
        deepcrime.remove_activation,
    ),
    Operator(
        "dc-add-activation",
        "the output goes through a ReLU before the loss",
        "torch.Tensor.relu",
        deepcrime.add_activation,
    ),
    Operator(
        "dc-change-weights-initialisation",
        "all parameters begin at zero",
        "torch.nn.init.zeros_",
        deepcrime.change_weights_initialisation,
    ),
    Operator(
        "dc-change-optimizer",
        "another optimizer with the same rate",
        OPTIMIZER,
        deepcrime.change_optimizer,
    ),
    Operator(
        "dc-change-gradient-clip",
        "gradients are clipped to a thousandth",
        "torch.nn.utils.clip_grad_norm_",
        deepcrime.change_gradient_clip,
    ),
    Operator(
        "dc-remove-bias",
        "a layer has no bias",
        "torch.nn.Linear",
        deepcrime.remove_bias,
    ),
    Operator(
        "dc-add-bias",
        "a layer has a bias",
        "torch.nn.Linear",
        deepcrime.add_bias,
    ),
    Operator(
        "dc-change-loss",
        "the absolute error in the place of the squared one, or the other way round",
        "torch.nn.functional.l1_loss",
        deepcrime.change_loss,
        judged_by_loss=False,
    ),
    Operator(
        "dc-change-dropout",
        "nine tenths are dropped",
        "torch.nn.Dropout",
        deepcrime.change_dropout,
    ),
    Operator(
        "dc-add-weights-regularisation",
        "a weight decay of 0.1",
        OPTIMIZER,
        deepcrime.add_weights_regularisation,
    ),
    Operator(
        "dc-change-weights-regularisation",
        "the weight decay is a hundred times as large",
        OPTIMIZER,
        deepcrime.change_weights_regularisation,
    ),
    Operator(
        "dc-remove-weights-regularisation",
        "there is no weight decay",
        OPTIMIZER,
        deepcrime.remove_weights_regularisation,
    ),
)

# A new operator also joins seeds.json: no earlier seed plants it.
OPERATORS: tuple[Operator, ...] = (
    Operator(
        "no-zero-grad",
        "zero_grad is left out",
        ZERO_GRAD,
        missing_calls.leave_out_zero_grad,
        iteration=2,
    ),
    Operator("no-step", "the optimizer's step is left out", STEP, missing_calls.leave_out_step),
    Operator("step-first", "step comes before backward", STEP, missing_calls.step_before_backward),
    Operator(
        "zero-grad-late",
        "zero_grad comes between backward and step",
        ZERO_GRAD,
        missing_calls.zero_grad_before_step,
    ),
    Operator(
        "evaluation-mode",
        "eval() in the place of train()",
        "torch.nn.Module.train",
        missing_calls.evaluation_mode,
    ),
    Operator(
        "break-left-in",
        "a break left in from debugging: one batch an epoch",
        "break",
        missing_calls.break_left_in,
        judged_by_loss=False,
    ),
    Operator(
        "detached-loss",
        "backward is called on a detached loss",
        DETACH,
        gradients.detached_loss,
    ),
    Operator("negated-loss", "the loss is maximised", BACKWARD, gradients.negated_loss),
    Operator(
        "detached-body",
        "a part of the network is detached from what comes before it",
        DETACH,
        gradients.detached_body,
    ),
    Operator(
        "head-only",
        "the optimizer is given the last layer alone",
        OPTIMIZER,
        gradients.head_only,
    ),
    Operator(
        "frozen-head",
        "the last layer takes no gradients",
        "torch.Tensor.requires_grad_",
        gradients.frozen_head,
    ),
    Operator(
        "stale-parameters",
        "the model is replaced after the optimizer was made",
        OPTIMIZER,
        gradients.stale_parameters,
    ),
    Operator(
        "clipped-away",
        "gradients are clipped to a ten-thousandth",
        "torch.nn.utils.clip_grad_norm_",
        gradients.clipped_to_nothing,
    ),
    Operator(
        "softmax-first",
        "softmax before cross entropy, which takes logits",
        CROSS_ENTROPY,
        losses.softmax_first,
        judged_by_loss=False,
    ),
    Operator(
        "labels-apart",
        "labels are shuffled apart from the inputs",
        "torch.randperm",
        losses.labels_apart,
    ),
    Operator(
        "broadcast",
        "shapes that differ by one dimension are broadcast",
        "torch.Tensor.sub",
        losses.lost_unsqueeze,
        judged_by_loss=False,
    ),
    *_DEEPCRIME,
)


@dataclass(frozen=True)
class FaultyProgram:
    """A program made of a clean one by an operator; `line` is where the fault is,
    None where it has no line.
    """

    operator: Operator
    text: str
    line: int | None


def plant(text: str, operator: Operator, seed: int) -> FaultyProgram | None:
    """The program with the fault in one of the places where it fits, by the seed;
    None where there is none.

    Raises RewriteError for what cannot be parsed or written anew.
    """
    tree = parse_program(text)
    edits = list(operator.edits(tree))
    if not edits:
        return None
    edit = choice.pick(seed, edits, operator.name, text)
    edit.make()
    faulty = write_program(tree)
    return FaultyProgram(operator, faulty.text, faulty.lines.get(edit.line))


def plant_each(text: str, seed: int, published: str | None = None) -> Iterator[FaultyProgram]:
    """The programs that the operators of a seed make of a clean one, in an order by the seed.

    Left out is the program that is `published` as the faulty one.
    """
    published_dump = ast.dump(parse_program(published)) if published else None
    for operator in _order_operators(text, seed):
        program = plant(text, operator, seed)
        if program and ast.dump(parse_program(program.text)) != published_dump:
            yield program


def _order_operators(text: str, seed: int) -> Sequence[Operator]:
    """The operators that a seed plants, in an order by the seed and the program."""
    names = operator_names(seed)
    operators = [operator for operator in OPERATORS if operator.name in names]
    return sorted(
        operators, key=lambda operator: choice.number(seed, "operator", operator.name, text)
    )
