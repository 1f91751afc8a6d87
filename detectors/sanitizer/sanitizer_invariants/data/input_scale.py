"""What a network is tested with is of the size of what it was trained with."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

LEAST, STABLE, FAR = 5, 8, 48


class InputScale(Invariant):
    """In evaluation a module is not called with numbers 48 times as large, or small,
    as all that it was trained with.

    Why: images of bytes (0 to 255) beside those of 0 to 1, or a normalisation that one of two paths
    leaves out: the network has never seen such numbers.

    Compared is the root mean square of the first floating-point argument, that of a sample having
    the same number of axes, with those of the calls with gradients, five of them at least.

    Excepted: trainings whose own sizes differ by more than a factor of 8, numbers that are about
    symmetric (noise, from which diffusion begins), and what has fewer than two axes a sample.
    Zeros, and a single sample of small numbers, may be made up to try a module out.

    Cost: a norm and a mean for the first five calls with gradients, and then each 50th; the same
    for each call in evaluation that is one of the first 200 or each 50th.
    """

    NAME = "input-scale"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.trained, self.calls, self.evaluated = (IdentityTable() for _ in range(3))

    def before_forward(self, module, arguments, options):
        inputs = arguments[0] if arguments else None
        if (
            not isinstance(inputs, torch.Tensor)
            or not inputs.is_floating_point()
            or inputs.dim() < 3
            or inputs.is_meta
        ):
            return
        if inputs.layout != torch.strided or inputs.is_nested:
            return
        module = copies.unwrap(module)
        if torch.is_grad_enabled() and module.training:
            self.calls[module] = self.calls.get(module, 0) + 1
            if is_sampled(self.calls[module], 50):
                self.trained.setdefault(module, []).append((inputs.dim(), *size(inputs)))
        elif not torch.is_grad_enabled() and not module.training and module in self.trained:
            self.evaluated[module] = self.evaluated.get(module, 0) + 1
            if self.evaluated[module] <= 200 or self.evaluated[module] % 50 == 0:
                self._compare(module, inputs)

    def _compare(self, module, inputs):
        trained = [statistics for dim, *statistics in self.trained[module] if dim == inputs.dim()]
        least, most = min(trained, default=[0])[0], max(trained, default=[0])[0]
        if len(trained) < LEAST or least == 0 or most > STABLE * least:
            return
        now, mean = size(inputs)
        if abs(mean) <= now / 4:
            return
        is_small = (
            0 < FAR * now < least
            and len(inputs) > 1
            and all(abs(statistics) > least / 4 for _, statistics in trained)
        )
        if now > FAR * most or is_small:
            self.report(
                f"in evaluation the module is called with numbers of size {now:.3g}, where it was "
                f"trained with {least:.3g} to {most:.3g}: are they divided by 255 on one path "
                "only?",
                api="torch.nn.Module.__call__",
            )


def size(tensor):
    """The root mean square, and the mean."""
    exact = torch.promote_types(tensor.dtype, torch.float32)
    with torch.no_grad():
        norm = torch.linalg.vector_norm(tensor, dtype=exact) / max(1, tensor.numel()) ** 0.5
        return torch.stack([norm, tensor.mean(dtype=exact)]).tolist()
