"""What does tinytorchtest say of one batch? Its tests, with the model, batch, loss and optimizer of the first step."""

from one_batch import HandOver, preserved

from tinytorchtest import tinytorchtest as ttt

FAILURES = (ttt.VariablesChangeException, ttt.NaNTensorException, ttt.InfTensorException)


def watch(program, emit):
    def use(batch, optimizer):
        # It calls models with positional arguments.
        if batch.loss is None or batch.options:
            return False
        test = test_of(batch, optimizer)
        for code, options in tests(batch.model).items():
            with preserved(batch.model, optimizer):
                try:
                    test.test(**options)
                except FAILURES as failure:
                    emit(code, str(failure), severity="error")
        return True

    return HandOver(program, emit, use)


def test_of(batch, optimizer):
    """Its object for a batch of inputs and targets. It hands a list of inputs on as separate arguments."""

    def loss(output, *targets):
        return batch.loss(output, *targets)

    device = next(batch.model.parameters()).device
    pair = [list(batch.arguments), [batch.loss.targets]]
    return ttt.TinyTorchTest(batch.model, loss, optimizer, pair, device=device)


def tests(model):
    """Its tests that need no knowledge of the model, and the list of variables that its README hands over."""
    return {
        "vars-change": {"test_vars_change": True},
        "nan": {"test_nan_vals": True},
        "inf": {"test_inf_vals": True},
        "train-vars": {"train_vars": list(model.named_parameters())},
    }
