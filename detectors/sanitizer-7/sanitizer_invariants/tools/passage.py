"""What a gradient passes on its way to the parameters that learn."""

from sanitizer_invariants.tools.graphs import kind, list_inputs, walk

# What hands a parameter on to the function that computes with it.
HANDED_ON = (
    "T", "Transpose", "View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Squeeze", "Expand",
    "Permute", "Select", "Slice", "Index", "ToCopy", "WeightNormInterface", "Alias", "Clone",
)  # fmt: skip
NODES, WAY = 20_000, 4


def find_passed(roots, parameters, trained):
    """The ids of those parameters through whose functions a gradient comes to trained ones.

    `h @ weight` hands the gradient of its result on to `h` by this very weight. It counts where `h`
    was computed from a trained parameter, and not where it is one.
    """
    inputs = {node: list_inputs(node) for node in walk(roots, NODES)}
    leading = find_leading(inputs, trained)
    passed = set()
    for before in inputs.values():
        direct = {id(leaf) for leaf in map(find_parameter, before) if leaf is not None}
        others = [node for node in before if find_parameter(node) is None]
        if any(node in leading for node in others):
            passed |= direct & parameters
    return passed


def find_leading(inputs, trained):
    """The nodes from which a way leads to a trained parameter."""
    outputs = {}
    for node, before in inputs.items():
        for earlier in before:
            outputs.setdefault(earlier, []).append(node)
    leaves = [node for node in outputs if hasattr(node, "variable")]
    waiting = [leaf for leaf in leaves if id(leaf.variable) in trained]
    leading = set()
    while waiting:
        node = waiting.pop()
        if node not in leading:
            leading.add(node)
            waiting += outputs.get(node, ())
    return leading


def find_parameter(node):
    """The leaf that a node is, or hands on in another shape; or None."""
    for _ in range(WAY):
        if hasattr(node, "variable"):
            return node.variable
        inputs = list_inputs(node)
        if len(inputs) != 1 or kind(node) not in HANDED_ON:
            return None
        node = inputs[0]
    return None
