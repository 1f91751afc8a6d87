"""The mutation operators of DeepCrime, as far as they apply to the text of a PyTorch program.

Humbatova, Jahangirova and Tonella, DeepCrime: Mutation Testing of Deep Learning Systems based on
Real Faults, ISSTA 2021. Its 24 operators are for Keras; UNDONE names the ones that have no place in
a text of which nobody knows the data or the number of records. DeepCrime searches for the size of a
change; here each has one size, chosen before the first run.
"""

import ast
from collections.abc import Callable, Iterator

from evaluation.planting.edits import (
    Edit,
    find_assignments,
    find_calls,
    insert_statement,
    is_optimizer,
    last_name,
    new_expression,
    rename_function,
    replace_argument,
)
from evaluation.planting.losses import FUNCTIONS, MODULES, find_losses

ACTIVATIONS = {"ReLU": "relu", "GELU": "gelu", "Tanh": "tanh", "SiLU": "silu", "ELU": "elu"}
OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")
# Keyword arguments that both SGD and Adam take.
SHARED_KEYWORDS = ("lr", "weight_decay")
DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d")
LINEAR = ("Linear", "Conv1d", "Conv2d", "Conv3d")
OTHER_LOSSES = {
    "mse_loss": "l1_loss", "l1_loss": "mse_loss", "smooth_l1_loss": "mse_loss",
    "MSELoss": "L1Loss", "L1Loss": "MSELoss", "SmoothL1Loss": "MSELoss",
}  # fmt: skip
# Operators of DeepCrime that are not here, each with the reason.
UNDONE = {
    "unbalance_train_data": "the text does not say where the labels of a data set are",
    "make_output_classes_overlap": "the text does not say where the labels of a data set are",
    "change_epochs": "a run with another number of records is not whole",
    "remove_validation_set": "a run without its records is not whole",
    "change_earlystopping_patience": "no clean program stops early",
}


def change_label(tree: ast.Module) -> Iterator[Edit]:
    """Half of the labels of a batch are those of their neighbours."""
    text = "argument.where(torch.rand(len(argument)) < 0.5, argument.roll(1, 0))"
    if imports_torch(tree):
        for call in find_losses(tree, MODULES, FUNCTIONS):
            if isinstance(call.args[1], ast.Name | ast.Subscript):
                yield Edit(call.lineno, replace_argument(call, 1, text))


def delete_training_data(tree: ast.Module) -> Iterator[Edit]:
    """Batches are drawn from the first tenth of the data."""
    for _, permutation in _drawn_batches(tree):
        yield Edit(permutation.lineno, replace_argument(permutation, 0, "argument // 10"))
    if imports_torch(tree):
        for call in _shuffled_loaders(tree):
            text = "torch.utils.data.Subset(argument, range(len(argument) // 10))"
            yield Edit(call.lineno, replace_argument(call, 0, text))


def add_noise(tree: ast.Module) -> Iterator[Edit]:
    """The inputs of a loss's prediction get noise of a deviation of 1."""
    if imports_torch(tree):
        for loss in find_losses(tree, MODULES, FUNCTIONS):
            prediction = loss.args[0]
            if isinstance(prediction, ast.Call) and prediction.args:
                text = "argument + torch.randn_like(argument)"
                yield Edit(prediction.lineno, replace_argument(prediction, 0, text))


def change_batch_size(tree: ast.Module) -> Iterator[Edit]:
    for split, _ in _drawn_batches(tree):
        yield Edit(split.lineno, replace_argument(split, 0, "argument * 8"))
    for call in _shuffled_loaders(tree):
        yield from _change_keyword(call, "batch_size", "argument * 8")


def disable_batching(tree: ast.Module) -> Iterator[Edit]:
    """One batch holds all data."""
    for split, permutation in _drawn_batches(tree):
        size = ast.unparse(permutation.args[0])
        yield Edit(split.lineno, replace_argument(split, 0, size))
    for call in _shuffled_loaders(tree):
        if isinstance(call.args[0], ast.Name):
            yield from _change_keyword(call, "batch_size", f"len({call.args[0].id})")


def change_learning_rate(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in find_assignments(tree, is_optimizer):
        yield from _change_keyword(call, "lr", "argument / 1000")


def change_activation(tree: ast.Module) -> Iterator[Edit]:
    """A layer's activation is a sigmoid."""
    return _replace_activations(tree, "Sigmoid", "argument.sigmoid()")


def remove_activation(tree: ast.Module) -> Iterator[Edit]:
    return _replace_activations(tree, "Identity", "argument")


def add_activation(tree: ast.Module) -> Iterator[Edit]:
    """A loss gets its prediction through a ReLU."""
    for call in find_losses(tree, MODULES, FUNCTIONS):
        yield Edit(call.lineno, replace_argument(call, 0, "argument.relu()"))


def change_weights_initialisation(tree: ast.Module) -> Iterator[Edit]:
    """All parameters begin at zero."""
    if not imports_torch(tree):
        return
    for block, place, _, call in find_assignments(tree, is_optimizer):
        parameters = ast.unparse(call.args[0])
        text = f"for parameter in {parameters}:\n    torch.nn.init.zeros_(parameter)"
        yield Edit(call.lineno, insert_statement(block, place, text))


def change_optimizer(tree: ast.Module) -> Iterator[Edit]:
    """Adam in the place of SGD, SGD in the place of any other one, with the same rate."""
    for _, _, _, call in find_assignments(tree, is_optimizer):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in OPTIMIZERS:
            yield Edit(call.lineno, _swap_optimizer(call, function))


def change_gradient_clip(tree: ast.Module) -> Iterator[Edit]:
    for call in find_calls(tree):
        is_clip = last_name(call.func) in ("clip_grad_norm_", "clip_grad_value_")
        if is_clip and len(call.args) > 1:
            yield Edit(call.lineno, replace_argument(call, 1, "argument / 1000"))


def remove_bias(tree: ast.Module) -> Iterator[Edit]:
    for call in _layers(tree, LINEAR):
        if not _keyword(call, "bias"):
            yield Edit(call.lineno, _add_keyword(call, "bias", "False"))


def add_bias(tree: ast.Module) -> Iterator[Edit]:
    for call in _layers(tree, LINEAR):
        keyword = _keyword(call, "bias")
        if keyword and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
            yield from _change_keyword(call, "bias", "True")


def change_loss(tree: ast.Module) -> Iterator[Edit]:
    """The absolute error in the place of the squared one, and the other way round."""
    for call in find_calls(tree):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in OTHER_LOSSES:
            yield Edit(call.lineno, rename_function(function, OTHER_LOSSES[function.attr]))


def change_dropout(tree: ast.Module) -> Iterator[Edit]:
    for call in _layers(tree, DROPOUTS):
        if call.args:
            yield Edit(call.lineno, replace_argument(call, 0, "0.9"))


def add_weights_regularisation(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in find_assignments(tree, is_optimizer):
        if not _keyword(call, "weight_decay"):
            yield Edit(call.lineno, _add_keyword(call, "weight_decay", "0.1"))


def change_weights_regularisation(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in find_assignments(tree, is_optimizer):
        yield from _change_keyword(call, "weight_decay", "argument * 100")


def remove_weights_regularisation(tree: ast.Module) -> Iterator[Edit]:
    for _, _, _, call in find_assignments(tree, is_optimizer):
        yield from _change_keyword(call, "weight_decay", "0.0")


def imports_torch(tree: ast.Module) -> bool:
    """Whether the name `torch` stands for the package."""
    imports = [statement for statement in tree.body if isinstance(statement, ast.Import)]
    names = [alias for statement in imports for alias in statement.names]
    return any(alias.name == "torch" and alias.asname is None for alias in names)


def _shuffled_loaders(tree: ast.Module) -> Iterator[ast.Call]:
    """The loaders of training data: they are shuffled."""
    for call in find_calls(tree):
        if last_name(call.func) == "DataLoader" and call.args and _keyword(call, "shuffle"):
            yield call


def _drawn_batches(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.Call]]:
    """The calls in torch.randperm(n).split(size), as (split, randperm)."""
    for call in find_calls(tree):
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr != "split" or not call.args:
            continue
        drawn = function.value
        if isinstance(drawn, ast.Call) and last_name(drawn.func) == "randperm" and drawn.args:
            yield call, drawn


def _layers(tree: ast.Module, names: tuple[str, ...]) -> Iterator[ast.Call]:
    """The calls that make layers, as attributes of a module: nn.Linear(…)."""
    for call in find_calls(tree):
        if isinstance(call.func, ast.Attribute) and call.func.attr in names:
            yield call


def _replace_activations(tree: ast.Module, layer: str, function: str) -> Iterator[Edit]:
    for call in find_calls(tree):
        name = last_name(call.func)
        if name in ACTIVATIONS and isinstance(call.func, ast.Attribute):
            yield Edit(call.lineno, _make_layer(call, call.func, layer))
        elif name in ACTIVATIONS.values() and len(call.args) == 1 and not call.keywords:
            yield Edit(call.lineno, _make_expression(tree, call, function))


def _make_layer(call: ast.Call, function: ast.Attribute, name: str) -> Callable[[], None]:
    def make() -> None:
        function.attr = name
        call.args, call.keywords = [], []

    return make


def _make_expression(tree: ast.Module, call: ast.Call, text: str) -> Callable[[], None]:
    """An edit that puts an expression of the call's argument into the place of the call."""

    class CallReplacer(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if node is call:
                return new_expression(text, argument=call.args[0])
            return self.generic_visit(node)

    def make() -> None:
        CallReplacer().visit(tree)

    return make


def _swap_optimizer(call: ast.Call, function: ast.Attribute) -> Callable[[], None]:
    def swap() -> None:
        function.attr = "Adam" if function.attr == "SGD" else "SGD"
        kept = [keyword for keyword in call.keywords if keyword.arg in SHARED_KEYWORDS]
        call.keywords = kept

    return swap


def _keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((keyword for keyword in call.keywords if keyword.arg == name), None)


def _change_keyword(call: ast.Call, name: str, text: str) -> Iterator[Edit]:
    """An edit that puts an expression of an `argument` of that name in its place."""
    keyword = _keyword(call, name)
    if keyword:
        yield Edit(call.lineno, _replace_value(keyword, text))


def _replace_value(keyword: ast.keyword, text: str) -> Callable[[], None]:
    def replace() -> None:
        keyword.value = new_expression(text, argument=keyword.value)

    return replace


def _add_keyword(call: ast.Call, name: str, text: str) -> Callable[[], None]:
    def add() -> None:
        call.keywords.append(ast.keyword(name, new_expression(text)))

    return add
