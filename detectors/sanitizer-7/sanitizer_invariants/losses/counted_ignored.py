"""What is ignored is in no mean."""

from sanitizer_invariants.tools.graphs import MarkingInvariant, kind, list_inputs, walk

LOSSES = ("cross_entropy", "nll_loss")
SHAPES = ("View", "ReshapeAlias", "UnsafeView", "Squeeze", "Unsqueeze", "Clone", "ToCopy")
SUMS = ("Add", "Sub", "Neg", "Mean", "View", "Squeeze", "Unsqueeze", "Clone", "ToCopy")
NODES, LEAST, BATCHES, SPREAD = 64, 0.05, 3, 0.01


class CountedIgnored(MarkingInvariant):
    """A mean over the losses of single targets leaves out the targets that are ignored.

    Why: with `reduction="none"` the loss of a target that is `ignore_index` is 0, and `mean()`
    divides by the number of all. The more padding a batch has, the less each of its targets counts.
    (`reduction="mean"` divides by the others alone; so does `sum() / (target != -100).sum()`.)

    Seen where a backward pass begins with such a mean: of `cross_entropy` or `nll_loss`, over all
    of its losses, in three passes in which a twentieth of the targets and more are ignored. It is
    an error where batches have other numbers of targets, and others of them are ignored; where all
    batches are of one size it is advice: the mean is then a sum by a constant. It is advice, too,
    where the mean is multiplied or divided: by the share that counts, perhaps.

    Excepted: losses that are chosen, weighted or added up before; shares that are always the same.

    Cost: a count of the ignored targets of each such loss, and a walk over at most 64 nodes.
    """

    NAME = "counted-ignored"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.batches, self.reported = {}, set()

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or arguments["reduction"] != "none" or output.grad_fn is None:
            return
        target = arguments["target"]
        if target.is_floating_point():
            return
        if target.numel() != output.numel() or target.is_meta:
            return
        where = self.program.here()
        if where not in self.reported:
            ignored = (target.detach() == arguments["ignore_index"]).sum()
            self.mark(output, (where, name, target.numel(), ignored))

    def look_at(self, root):
        plain = walk([root], NODES, lambda node: kind(node) not in SUMS)
        for node in walk([root], NODES, self.find_mark):
            mark = find_losses(node) if kind(node) == "Mean" else None
            if mark is not None:
                self._note(mark, node not in plain)

    def _note(self, mark, is_scaled):
        where, name, number, ignored = mark
        share = int(ignored) / max(1, number)
        if share < LEAST or where in self.reported:
            return
        batches = self.batches.setdefault(where, [])
        batches.append((number, share))
        shares = [share for _, share in batches]
        if len(batches) < BATCHES or max(shares) - min(shares) < SPREAD:
            return
        self.reported.add(where)
        is_even = len({number for number, _ in batches}) == 1
        self.report(
            f"{max(shares):.0%} of the targets are ignored, and the mean over all counts their "
            'losses as 0 (reduction="none"): the more of them, the less the others count',
            api=f"torch.nn.functional.{name}",
            where=where,
            severity="info" if is_even or is_scaled else "error",
        )


def find_losses(node):
    """The mark of the losses that a node takes the mean of, in whatever shape; or None."""
    for before in list_inputs(node):
        while before is not None and CountedIgnored.find_mark(before) is None:
            inputs = list_inputs(before)
            before = inputs[0] if kind(before) in SHAPES and inputs else None
        return None if before is None else CountedIgnored.find_mark(before)
    return None
