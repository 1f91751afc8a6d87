"""A module is used with the weights that it has loaded."""

import torch

from sanitizer_invariants.checkpoints.loads_nothing import has_own_loading
from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.files import Files
from sanitizer_invariants.tools.hooks import PLAIN
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

NUMBERS, LEAST, KIN, SHARE = 64, 16, 0.5, 0.75


class LoadsOtherwise(Invariant):
    """After `load_state_dict` a module holds what the state has under its names, and of the weights
    that came from a file not all are others as the module is first called.

    Why: two names of one parameter can be given two values, of which the last is left: what is
    shared now was not when it was saved. And what is initialised after the loading, as by
    `apply(init_weights)` or at the first call, has forgotten the checkpoint: training begins from
    random weights, without a word.

    Others are weights without any likeness: of matrices that `torch.load` has read, at least two
    and three of four have a correlation below a half with what was loaded. So a mean of weights, a
    scale, a mask and rounding are left out, and a new head.

    Excepted: modules that change names or values as they load; what is loaded again in between, or
    is shared with other processes.

    Cost: a comparison of all weights for the first five loadings of a module and then for each
    50th; 64 numbers of each matrix from a file, once.
    """

    NAME = "loads-otherwise"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.files, self.sources = Files(), None
        self.waiting, self.loads = IdentityTable(), IdentityTable()

    def after_read(self, content):
        self.files.note(content)

    def before_load(self, loaded, state):
        self.sources = None
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "items"):
            return
        if not any(map(changes_values, loaded.modules())):
            self.sources = {
                name: value for name, value in state.items() if isinstance(value, torch.Tensor)
            }

    def after_load(self, loaded):
        sources, self.sources = self.sources, None
        if sources is None:
            return
        parts = set(map(id, loaded.modules()))
        for module in list(self.waiting):
            if id(module) in parts or not parts.isdisjoint(map(id, module.modules())):
                del self.waiting[module]
        own = dict(list_all(loaded))
        pairs = {name: (own[name], sources[name]) for name in own if name in sources}
        self.loads[loaded] = self.loads.get(loaded, 0) + 1
        if is_sampled(self.loads[loaded], 50):
            self._compare(pairs, own)
        read = {
            name: pick_numbers(tensor)
            for name, (tensor, source) in pairs.items()
            if self.files.find(source) is not None and is_matrix(tensor)
        }
        if len(read) > 1:
            self.waiting[loaded] = read, self.program.here()

    def _compare(self, pairs, own):
        for name, pair in pairs.items():
            if not is_same(*pair):
                self._report_other(name, own)
                return

    def _report_other(self, name, own):
        others = [other for other in own if other != name and own[other] is own[name]]
        shared = f"; {others[0]} is the same parameter, and has another value there"
        reason = shared if others else ""
        self.report(
            f"after the loading {name} is not what the state dictionary has{reason}",
            api="torch.nn.Module.load_state_dict",
            parameter=name,
        )

    def before_step(self, optimizer):
        self.waiting.clear()

    def after_forward(self, module, arguments, options, output):
        if not self.waiting:
            return
        parts = set(map(id, module.modules()))
        for loaded in [waiting for waiting in self.waiting if id(waiting) in parts]:
            numbers, where = self.waiting.pop(loaded)
            own = dict(list_all(loaded))
            kept = [is_kin(numbers[name], own.get(name)) for name in numbers]
            lost = kept.count(False)
            if lost > 1 and lost >= SHARE * len(kept):
                self.report(
                    f"{lost} of {len(kept)} matrices that the {type(loaded).__name__} has loaded "
                    "from a file are others as it is first called: the checkpoint is overwritten",
                    api="torch.nn.Module.load_state_dict",
                    where=where,
                )


def changes_values(module):
    """Whether a module may load other values than it is given."""
    return has_own_loading(module) or bool(getattr(module, "_load_state_dict_post_hooks", None))


def list_all(module):
    """The parameters and buffers that a module loads, by all of their names."""
    for prefix, part in module.named_modules(remove_duplicate=False):
        for name, tensor in (*part._parameters.items(), *part._buffers.items()):
            if type(tensor) in PLAIN and name not in part._non_persistent_buffers_set:
                yield f"{prefix}.{name}" if prefix else name, tensor


def is_same(tensor, source):
    """Whether a tensor holds what another one has, in its own precision."""
    is_plain = tensor.layout == source.layout == torch.strided and type(source) in PLAIN
    if tensor is source or tensor.shape != source.shape or not is_plain:
        return True
    if tensor.is_meta or source.is_meta or tensor.is_quantized or source.is_quantized:
        return True
    if is_shared(tensor) or is_shared(source):
        return True
    with torch.no_grad():
        return copies.are_identical([tensor], [source.to(tensor)])


def is_shared(tensor):
    """Whether other processes may write to a tensor meanwhile."""
    return tensor.device.type == "cpu" and tensor.is_shared()


def is_matrix(tensor):
    is_plain = tensor.layout == torch.strided and not tensor.is_meta
    return is_plain and tensor.is_floating_point() and tensor.dim() > 1 and tensor.numel() >= LEAST


def pick_numbers(tensor):
    """Some numbers of a tensor, from all over it."""
    values = tensor.detach().reshape(-1)
    return values[:: max(1, len(values) // NUMBERS)][:NUMBERS].double().cpu()


def is_kin(numbers, tensor):
    """Whether numbers that were picked from a tensor are like those that it has now; None where
    there is nothing to compare.
    """
    if tensor is None or not is_matrix(tensor):
        return None
    now = pick_numbers(tensor)
    if now.shape != numbers.shape or torch.equal(now, numbers):
        return None if now.shape != numbers.shape else True
    deviations = numbers - numbers.mean(), now - now.mean()
    size = deviations[0].norm() * deviations[1].norm()
    return not bool(size > 0) or bool(deviations[0] @ deviations[1] > KIN * size)
