"""What becomes of an axis of a tensor in the functions that it goes through."""

from sanitizer_invariants.tools.graphs import kind, list_inputs

# Leave each axis where it is.
SAME = ("Clone", "ToCopy", "Alias", "NativeDropout", "MaskedFill", "Expand", "Contiguous")
VIEWS = ("View", "UnsafeView", "ReshapeAlias")
# In products of matrices: the axis of each side that is summed over.
SUMMED = {"Bmm": (2, 1), "Mm": (1, 0), "Mv": (1, 0)}
LARGE = 2**63


class Axis:
    """An axis of a tensor of a known shape."""

    def __init__(self, number, shape):
        self.number, self.shape = number, tuple(shape)

    def moved(self, order):
        """The axis after the axes have been put into another order."""
        return Axis(order.index(self.number), [self.shape[place] for place in order])


def signed(number, length):
    """An axis as a number from 0; the graph keeps negative ones as very large ones."""
    number = number - 2 * LARGE if number >= LARGE else number
    return number % length


def follow(axis, node, consumer):
    """The axis in what a node makes of a tensor; None where that is not known.

    `consumer` is the function that gets the result, which may know its shape.
    """
    name = kind(node)
    if name in SAME or (name == "Mul" and len(list_inputs(node)) == 1):
        return axis
    if name in MOVES:
        return MOVES[name](axis, node)
    if name in VIEWS and consumer is not None:
        return view(axis, find_given_shape(consumer, node))
    return None


def transpose(axis, node):
    length = len(axis.shape)
    order = list(range(length))
    first, second = 0, 1
    if kind(node) == "Transpose":
        first, second = signed(node._saved_dim0, length), signed(node._saved_dim1, length)
    order[first], order[second] = order[second], order[first]
    return axis.moved(order)


def permute(axis, node):
    length = len(axis.shape)
    return axis.moved([signed(place, length) for place in node._saved_dims])


def unsqueeze(axis, node):
    place = signed(node._saved_dim, len(axis.shape) + 1)
    shape = [*axis.shape[:place], 1, *axis.shape[place:]]
    return Axis(axis.number + (place <= axis.number), shape)


def squeeze(axis, node):
    """The axis after one of one element was left out; None where it is not known which one."""
    if not hasattr(node, "_saved_dim"):
        return None
    place = signed(node._saved_dim, len(axis.shape))
    if axis.shape[place] != 1:
        return axis
    if place == axis.number:
        return None
    shape = [*axis.shape[:place], *axis.shape[place + 1 :]]
    return Axis(axis.number - (place < axis.number), shape)


def view(axis, shape):
    """The axis after a view that joins axes before it, or it with these; None of another view."""
    if shape is None:
        return None
    tail = axis.shape[axis.number + 1 :]
    if len(shape) == len(tail) + 1 and tuple(shape)[1:] == tail:
        return Axis(0, shape)
    shift = len(axis.shape) - len(shape)
    behind = len(axis.shape) - axis.number
    if shift < 0 or axis.number - shift < 0 or axis.shape[-behind:] != tuple(shape)[-behind:]:
        return None
    return Axis(axis.number - shift, shape)


def find_given_shape(consumer, node):
    """The shape of what a product gets from a node, as far as the product has kept it."""
    for place, (before, _) in enumerate(consumer.next_functions):
        if before is node and kind(consumer) in ("Bmm", "Mm"):
            saved = consumer._saved_self if place == 0 else consumer._saved_mat2
            return None if saved is None else saved.shape
    return None


MOVES = {
    "Transpose": transpose,
    "T": transpose,
    "Permute": permute,
    "Unsqueeze": unsqueeze,
    "Squeeze": squeeze,
}
