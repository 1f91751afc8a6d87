"""The reward of a drawn action is a number."""

from sanitizer_invariants.tools.graphs import MarkingInvariant, kind, list_inputs, walk
from sanitizer_invariants.tools.identity import IdentitySet

# What leaves the logarithm of a probability one, or joins several.
PASSED = (
    "Neg", "View", "ReshapeAlias", "UnsafeView", "Unbind", "Squeeze", "Unsqueeze", "Stack", "Cat",
    "Sum", "Add", "Select", "Slice", "Transpose", "T", "Permute", "Clone", "Expand", "ToCopy",
)  # fmt: skip
NODES, WAY = 64, 32


class LearntReward(MarkingInvariant):
    """What multiplies the log-probability of an action that its own distribution has drawn has no
    gradient.

    Why: the gradient of an expected reward is that of log p(action) times the reward, which is a
    number: what the action has brought, less a baseline. Where the baseline or the value of a
    critic comes with its gradient, the loss also moves the critic, to wherever the product is
    smaller, and no longer to what is to be expected. `detach()` is missing.

    Seen at a backward pass: a product of two factors of more than one element, both with gradients;
    one is a log-probability, or the sum of several, and not computed from the other one. Only of
    distributions of torch that have drawn before, and of values without gradients.

    Excepted: draws by `rsample`, which have gradients of their own; distributions that never drew
    (the density of data, weighted by what is learnt); single numbers (a learnt temperature); ratios
    by `exp`, as those of DiCE and PPO; `torch.where` and matrix products.

    Cost: a mark for each log-probability, and a walk over at most 64 nodes for each backward pass
    after one, with at most 32 for each product.
    """

    NAME = "learnt-reward"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.drawn = IdentitySet()

    def after_sample(self, distribution, *arguments):
        self.drawn.add(distribution)

    def after_log_prob(self, distribution, value, result):
        if result.grad_fn is None or value.requires_grad or distribution not in self.drawn:
            return
        self.mark(result, self.program.here())

    def look_at(self, root):
        for where in find_products(root):
            self.report(
                "the log-probability of a drawn action is multiplied by something that has "
                "gradients: the loss moves that as well (is a detach() missing?)",
                api="torch.Tensor.detach",
                where=where,
            )


def find_products(root):
    """Where log-probabilities were computed that a loss multiplies by what has gradients."""
    places = []
    for node in walk([root], NODES, LearntReward.find_mark):
        inputs = list_inputs(node)
        if kind(node) == "Mul" and len(inputs) == 2 and has_several(node):
            marks = [find_log_prob(factor) for factor in inputs]
            # Of the two factors one is a log-probability.
            if sum(mark is not None for mark in marks) == 1:
                places += [mark for mark in marks if mark is not None]
    return places


def has_several(node):
    """Whether both factors of a product have more than one element."""
    factors = node._saved_self, node._saved_other
    return all(factor is not None and factor.numel() > 1 for factor in factors)


def find_log_prob(factor):
    """The mark of a log-probability of which a factor is the sum, and of nothing else; or None."""
    mark, nodes = None, walk([factor], WAY + 1, LearntReward.find_mark)
    if len(nodes) > WAY:
        return None
    for node in nodes:
        if LearntReward.find_mark(node) is not None:
            mark = LearntReward.find_mark(node)
        elif kind(node) not in PASSED:
            return None
    return mark
