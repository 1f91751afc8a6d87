"""A criterion is made smaller."""

import weakref
from typing import NamedTuple

import torch
from torch.autograd.function import BackwardCFunction

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

# Those that are never negative.
CRITERIA = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits",
)  # fmt: skip
# What leaves a number, or a mean, as it is.
PASSED = ("Neg", "Mul", "Div", "Mean", "Sum", "View", "Squeeze", "ToCopy")
CHAIN, WALKS, NODES = 8, 200, 20000
# So many steps if the minus is in the program; a negative number may be the reward of a policy that
# always loses.
STEPS, OF_NUMBERS = 3, 50
CRITERION = "criterion by the sanitizer"


class NegatedLoss(Invariant):
    """An optimizer does not begin by making a criterion of torch larger, and nothing else.

    Why: a cross-entropy or a mean squared error is never negative, and best at 0. Its negation has
    no minimum: the network unlearns, until the numbers overflow.

    Seen in the first three steps of an optimizer: each backward pass before them is of the negation
    of a criterion, and all that it gives gradients to is stepped by this optimizer. Of its product
    with a negative number, always the same one, it is seen in the first 50.

    Excepted: sums; what has gradients for others as well, or comes from a module with a parameter
    that this optimizer does not hold (generators, attacks, critics, players of a game); soft
    targets, and targets that are learnt (the largest entropy, unlike predictions); factors that
    change (a policy's rewards); gradients that are turned around by a function of one's own;
    optimizers that maximize; what was trained or loaded before, and may be unlearnt. Who unlearns a
    network whose weights came by other ways than `load_state_dict` is accused.

    Cost: a few look-ups for each loss and backward pass; a walk through the graphs of the first 200
    that are negated.
    """

    NAME = "negated-loss"
    VERSION = 3

    def __init__(self, program, report):
        super().__init__(program, report)
        self.called, self.trained, self.walks = IdentitySet(), {}, 0
        self.passes, self.steps = [], IdentityTable()

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self._know(loaded.parameters())

    def _know(self, of):
        """What is trained already, by their ids, as tensors are not compared."""
        self.trained.update({id(parameter): weakref.ref(parameter) for parameter in of})

    def _is_known(self, parameter):
        return id(parameter) in self.trained and self.trained[id(parameter)]() is parameter

    def before_forward(self, module, arguments, options):
        if torch.is_grad_enabled():
            self.called.add(module)

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        if name not in CRITERIA or output.grad_fn is None or not isinstance(target, torch.Tensor):
            return
        if not target.requires_grad and not (
            name == "cross_entropy" and target.is_floating_point()
        ):
            output.grad_fn.metadata[CRITERION] = True

    def before_backward(self, tensors):
        losses = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        # An edge of the graph, from which torch can begin as well, has no number.
        is_one = len(losses) == 1 and isinstance(losses[0], torch.Tensor)
        factor = negative_factor(losses[0]) if is_one and self.walks < WALKS else None
        learnt = None
        if factor is not None:
            self.walks += 1
            learnt = find_leaves(losses[0].grad_fn)
        # None where it is no negation, or unclear.
        negation = (
            None
            if learnt is None
            else (factor, learnt, self.program.iteration, self.program.here())
        )
        self.passes.append(negation)
        del self.passes[:-NODES]

    def before_step(self, optimizer):
        passes, self.passes = self.passes, []
        called, self.called = self.called, IdentitySet()
        before = self.steps.get(optimizer, [])
        if before is not None and self._ascends(optimizer, passes, called):
            before = [*before, passes[0]]
            self.steps[optimizer] = before if len({factor for factor, *_ in before}) == 1 else None
        elif before is not None:
            self.steps[optimizer] = None
            self._know(list_parameters(optimizer))
        if self.steps[optimizer] is not None and len(before) == (
            OF_NUMBERS if before[0][0].is_of_number else STEPS
        ):
            self._report(*before[0])
            self.steps[optimizer] = None

    def _ascends(self, optimizer, passes, called):
        """Whether a step is by nothing but the negations of criteria,
        of what the optimizer has for itself.
        """
        if (
            not passes
            or any(item is None for item in passes)
            or len({factor for factor, *_ in passes}) > 1
        ):
            return False
        if any(group.get("maximize") for group in optimizer.param_groups):
            return False
        held = {id(parameter) for parameter in list_parameters(optimizer)}
        learnt = {item for _, some, *_ in passes for item in some}
        used = [parameter for module in called for parameter in copies.unwrap(module).parameters()]
        has_known = any(map(self._is_known, list_parameters(optimizer)))
        return not has_known and learnt <= held and all(id(item) in held for item in used)

    def _report(self, factor, learnt, iteration, where):
        self.report(
            "training makes a criterion larger: the loss is its negation, and nothing else",
            api="torch.Tensor.backward",
            iteration=iteration,
            where=where,
        )


def negative_factor(loss):
    """The negative factor by which a criterion was multiplied;
    None where a loss is anything else.
    """
    node, sign, factors = loss.grad_fn, 1.0, []
    for _ in range(CHAIN):
        if node is None or CRITERION in node.metadata:
            break
        kind = node.name().partition("Backward")[0]
        following = [function for function, _ in node.next_functions if function is not None]
        if kind not in PASSED or len(following) != 1:
            return None
        if kind == "Neg":
            sign = -sign
        elif kind in ("Mul", "Div"):
            factors.append((kind, number_of(node)))
        (node,) = following
    if node is None or CRITERION not in node.metadata or any(other is None for _, other in factors):
        return None
    return collect_factors(loss, sign, factors)


def number_of(node):
    """The single number by which is multiplied or divided, as a tensor;
    None where there is none.
    """
    saved = [getattr(node, name, None) for name in ("_saved_other", "_saved_self")]
    saved = [value for value in saved if isinstance(value, torch.Tensor)]
    return (
        saved[0].detach()
        if len(saved) == 1 and saved[0].numel() == 1 and not saved[0].is_meta
        else None
    )


class Factor(NamedTuple):
    """By what a criterion was multiplied, and whether one of several factors is a negative
    number.
    """

    value: float
    is_of_number: bool


def collect_factors(loss, sign, factors):
    """The factor of all, where it is negative and the loss as well. No GPU is waited for unless
    something else is.
    """
    numbers = [factor.item() if factor.device.type == "cpu" else None for _, factor in factors]
    if loss.is_meta or (
        sign > 0 and not any(number is not None and number < 0 for number in numbers)
    ):
        return None
    numbers = [factor.item() for _, factor in factors]
    value = sign
    for (kind, _), number in zip(factors, numbers):  # noqa: B905
        value *= number if kind == "Mul" else 1 / (number or 1)
    is_negative = value < 0 and bool((loss.detach() <= 0).all())
    return Factor(value, any(number < 0 for number in numbers)) if is_negative else None


def find_leaves(node):
    """The ids of what a backward pass gives gradients to; None where it is changed on the way,
    or far away.
    """
    tensors, visited, waiting = set(), {node}, [node]
    while waiting:
        node_now = waiting.pop()
        if isinstance(node_now, BackwardCFunction) or len(visited) > NODES:
            return None
        if hasattr(node_now, "variable"):
            tensors.add(id(node_now.variable))
        for following, _ in node_now.next_functions:
            if following is not None and following not in visited:
                visited.add(following)
                waiting.append(following)
    return tensors
