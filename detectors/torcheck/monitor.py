"""What does torcheck say after each step? Its checks of parameters and outputs, as its README adds them to a model.

torcheck raises an error inside of `step` or `forward`, which would end the training. Here its objects are asked after
the step and after the call, and the training goes on.
"""

import torch
from torcheck.output_spec import OutputSpec
from torcheck.param_spec import ParamSpec
from torcheck.registry import Registry

# Alarms by the words of its messages.
CODES = {
    "should change.": "changing",
    "contains NaN.": "nan",
    "contains inf.": "inf",
    "shouldn't all": "in-0-1",
    "doesn't belong to any optimizer": "no-optimizer",
}


class Checks:
    def __init__(self, program, emit):
        self.program, self.emit = program, emit
        self.registry, self.added, self.told = Registry(), set(), set()
        self.output_specs = (
            OutputSpec("model", check_nan=True, check_inf=True),
            OutputSpec("model", range=(0, 1), negate=True),
        )

    def before_forward(self, module, arguments, options):
        for optimizer in self.program.optimizers():
            self.register(optimizer)
        if torch.is_grad_enabled() and self.registry.optimizer_to_spec:
            self.add(module)

    def register(self, optimizer):
        """What its `register` does, without wrapping the step."""
        if optimizer not in self.registry.optimizer_to_spec:
            self.registry.optimizer_to_spec[optimizer] = ParamSpec()
            for group in optimizer.param_groups:
                self.registry.tensor_to_optimizer.update(dict.fromkeys(group["params"], optimizer))

    def add(self, module):
        """All parameters of a called module are to change, and to be finite, as by its `add_module`."""
        for name, parameter in module.named_parameters():
            if id(parameter) not in self.added:
                self.added.add(id(parameter))
                options = {"changing": True, "check_nan": True, "check_inf": True}
                self.ask(self.registry.add_tensor, parameter, name, "model", **options)

    def after_step(self, optimizer):
        spec = self.registry.optimizer_to_spec.get(optimizer)
        if spec is not None:
            self.ask(spec.validate)

    def after_forward(self, module, arguments, options, output):
        if isinstance(output, torch.Tensor) and next(module.parameters(), None) is not None:
            for spec in self.output_specs:
                self.ask(spec.validate, output.detach())

    def ask(self, validate, *arguments, **options):
        try:
            validate(*arguments, **options)
        except RuntimeError as error:
            self.tell(str(error))

    def tell(self, text):
        for line in text.splitlines():
            for words, code in CODES.items():
                if words in line and line not in self.told:
                    self.told.add(line)
                    self.emit(code, line, severity="error")


def watch(program, emit):
    return Checks(program, emit)
