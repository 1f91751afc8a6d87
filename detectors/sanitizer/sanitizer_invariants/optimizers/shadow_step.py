"""A step does what the optimizer's own formula says."""

import math

import torch

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, find_name, is_sampled, list_parameters
from sanitizer_invariants.tools.shadow import Shadow, copy_value, is_comparable

EVERY = 50
RESTARTS = 5
# With Adam, nine times as many are there for a moment: a gigabyte. Larger models are looked at in
# parts.
NUMBERS = 2**25
# A decay and an update round a parameter by half a unit each, in both ways to compute them: 2, and
# some more for what is added up on the way.
ROUNDINGS = 8
# Where torch has no bound for what a step does to the parameter: the difference of nearly equal
# means (RMSprop, centered), and a branch on a number that is computed in two precisions (RAdam).
# Their momenta are compared.
UNBOUNDED = ("RAdam",)
USE_UP = ("Adagrad", "Adamax")


class ShadowStep(Invariant):
    """An optimizer of torch.optim leaves the parameters and the state that its for-loop in eager
    mode leaves.

    Why: the ways to compute a step (for-loop, foreach, fused, compiled) are documented to be the
    same but for rounding. So a step that drops an update, does not count, or uses other gradients
    than those that are there, is not the optimizer's. Parameters are compared by the mean over
    their elements: they may differ by 1 % of the update, and by what rounding the parameter costs.
    1 %, because 1 - beta ** step in single precision is off by 6e-8 / (1 - beta), which is 0.6 %
    for 0.99999; for bfloat16 by 16 of its units. In the mean, because where decay and gradient
    cancel the sign of a single element is left to rounding. Counts of steps are compared exactly.

    A step with a closure updates by the gradients that the closure leaves. Where they were changed
    in place and nothing shows whether a closure or the step did that (foreach may), it may have
    used either.

    Excepted: closures where foreach uses the gradients up, subclasses, hooks of steps, gradient
    scalers in a fused step, tensors that are not plain (subclasses, shared memory, float16),
    optimizers that need a closure or multiply matrices (LBFGS, Adafactor, Muon), non-finite
    numbers, and what a closure does to the parameters themselves.

    Cost: copies of all and one more step, at the first five steps, at each 50th, and at the first
    five after there are other gradients than None, because compiled code is for those that it was
    compiled with; the latter five times. Of large models some parameters are looked at each time,
    others the next time.
    """

    NAME, LIGHT = "shadow-step", False
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.pending = IdentityTable(), IdentityTable()
        self.closure, self.given_up = False, IdentitySet()
        self.places = IdentityTable()

    def before_zero_grad(self, optimizer):
        self.closure = True

    def before_backward(self, tensors):
        self.closure = True

    def before_forward(self, module, arguments, options):
        self.closure = True

    def before_step(self, optimizer):
        self.pending.pop(optimizer, None)
        if (
            optimizer not in self.given_up
            and self._is_sampled(optimizer)
            and is_comparable(optimizer)
        ):
            self.pending[optimizer] = Shadow(optimizer, self._some(optimizer))
            self.closure = False

    def after_step(self, optimizer):
        shadow = self.pending.pop(optimizer, None)
        if shadow is None or not is_comparable(optimizer):
            return
        with self.program.undisturbed():
            try:
                wrong = [
                    _wrong(optimizer, shadow, gradients)
                    for gradients in self._gradients(optimizer, shadow)
                ]
            except (RuntimeError, ValueError, TypeError, AssertionError, KeyError, AttributeError):
                self.given_up.add(optimizer)
                return
        if wrong and all(wrong):
            self._report(optimizer, wrong[0])

    def _some(self, optimizer):
        """The parameters that are looked at now: as many as are small enough to be copied,
        from the last place on.
        """
        members = list(
            {id(parameter): parameter for parameter in list_parameters(optimizer)}.values()
        )
        place = self.places.get(optimizer, 0) % max(1, len(members))
        picked_parameters, size = [], 0
        for parameter in members[place:] + members[:place]:
            if size + parameter.numel() > NUMBERS and picked_parameters:
                break
            picked_parameters, size = [*picked_parameters, parameter], size + parameter.numel()
        self.places[optimizer] = place + len(picked_parameters)
        return [picked for picked in picked_parameters if picked.numel() <= NUMBERS]

    def _is_sampled(self, optimizer):
        """Counts since the gradients that are None were others."""
        present = tuple(parameter.grad is None for parameter in list_parameters(optimizer))
        count, before, restarts = self.counts.get(optimizer, (0, present, 0))
        if present != before and restarts < RESTARTS:
            count, restarts = 0, restarts + 1
        self.counts[optimizer] = count + 1, present, restarts
        return is_sampled(count + 1, EVERY)

    def _gradients(self, optimizer, shadow):
        """The gradients by which the step may have updated."""
        after = {
            parameter: copy_value(original.grad) for parameter, original in shadow.originals.items()
        }
        if all(_is_same(after[number], shadow.gradients[number]) for number in after):
            return [after]
        if not self.closure and all(
            id(original.grad) == shadow.identities[parameter]
            for parameter, original in shadow.originals.items()
        ):
            return [shadow.gradients, after]
        return [] if _uses_up(optimizer) else [after]

    def _report(self, optimizer, wrong):
        self.given_up.add(optimizer)
        name = type(optimizer).__name__
        parameter, difference = wrong[0]
        self.report(
            f"this step of {name} is not that of its formula: {difference} differs from what an "
            "eager for-loop makes of the same gradients and state, in "
            f"{len(wrong)} of {len(list_parameters(optimizer))} parameters",
            api=f"torch.optim.{name}.step",
            parameter=find_name(self.program, parameter),
            iteration=self.program.iteration_of(optimizer),
        )


def _wrong(optimizer, shadow, gradients):
    """The parameters that are not as they should be, each with what differs."""
    expected, differing = shadow.step(gradients), []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if id(parameter) not in shadow.originals:
                continue
            difference = _difference(
                optimizer,
                group,
                parameter,
                shadow,
                gradients[id(parameter)],
                expected[id(parameter)],
            )
            if difference:
                differing.append((parameter, difference))
    return differing


def _difference(optimizer, group, parameter, shadow, gradient, expected):
    value, state = expected
    before, states = shadow.values[id(parameter)], shadow.states.get(id(parameter), {})
    share = max(0.01, 16 * torch.finfo(value.dtype).eps)
    rounding = ROUNDINGS * torch.finfo(value.dtype).eps
    if not _is_equal(parameter.detach(), value) and not _is_unbounded(optimizer, group):
        rate = abs(float(group["lr"])) * (1 + _mean(gradient))
        bound = share * _mean(value - before) + rounding * (_mean(before) + rate)
        if _mean(parameter.detach() - value) > bound:
            return "the parameter"
    now = optimizer.state.get(parameter, {})
    for name, expected_value in state.items():
        if _is_equal(now.get(name), expected_value):
            continue
        decayed = float(group.get("weight_decay", 0)) * _mean(before)
        bound = share * _mean(expected_value) + rounding * (_mean(states.get(name)) + decayed)
        if not _agrees(name, now.get(name), expected_value, bound):
            return f"its {name}"
    return None


def _is_equal(real, expected):
    """Whether two tensors are the same to the last bit, which most are."""
    tensors = isinstance(real, torch.Tensor) and isinstance(expected, torch.Tensor)
    plain = (
        tensors
        and real.layout == expected.layout == torch.strided
        and real.device == expected.device
    )
    return plain and real.dtype == expected.dtype and torch.equal(real, expected)


def _uses_up(optimizer):
    """Whether foreach changes the gradients: those that a closure left are gone then."""
    return type(optimizer).__name__ in USE_UP or any(
        group.get("nesterov") for group in optimizer.param_groups
    )


def _is_unbounded(optimizer, group):
    return type(optimizer).__name__ in UNBOUNDED or bool(group.get("centered"))


def _agrees(name, real, expected, bound):
    if expected is None or (
        isinstance(expected, torch.Tensor) and expected.layout != torch.strided
    ):
        return True
    if real is None:
        return False
    if name == "step":
        return float(real) == float(expected)
    if not isinstance(expected, torch.Tensor):
        return abs(float(real) - float(expected)) <= bound
    real = torch.as_tensor(real, device=expected.device).detach()
    return real.shape == expected.shape and _mean(real - expected) <= bound


def _mean(tensor):
    """The mean size of the finite elements, 0 where there are none."""
    if tensor is None:
        return 0.0
    with torch.no_grad():
        tensor = torch.as_tensor(tensor).detach()
        if tensor.is_sparse:
            tensor = tensor.coalesce().values()
        sizes = tensor.abs()
        sizes = sizes.float() if sizes.element_size() < 4 else sizes
        checksum_of = float(sizes.sum())
        if math.isfinite(checksum_of):
            return checksum_of / max(1, sizes.numel())
        sizes = sizes.double()[torch.isfinite(sizes)]
        return float(sizes.mean()) if sizes.numel() else 0.0


def _is_same(first, second):
    if (
        first is None
        or second is None
        or first.layout != second.layout
        or first.shape != second.shape
    ):
        return first is second
    if first.is_sparse:
        first, second = first.coalesce().values(), second.coalesce().values()
        if first.shape != second.shape:
            return False
    return bool(((first == second) | ((first != first) & (second != second))).all())
