"""Show which numbers a compiled function sees change, in the torch that runs this.

One line for each place that a factor can be in: the factor is 2 in the first call and 10 in the second.
"""

import enum

import torch


class Settings:
    factor = 2.0
    table = {"factor": 2.0}


class Kind(enum.Enum):
    DOUBLE = 2
    TENFOLD = 10


class Chosen:
    kind = Kind.DOUBLE


settings = Settings()
settings.factor = 2.0
factor = 2.0


def set_class(value):
    Settings.factor = value


def set_instance(value):
    settings.factor = value


def set_dictionary(value):
    Settings.table["factor"] = value


def set_global(value):
    global factor
    factor = value


def set_enum(value):
    Chosen.kind = Kind(value)


PLACES = {
    "attribute of a class, a float": (lambda x: x * Settings.factor, set_class),
    "attribute of a class, an enum": (lambda x: x * (2 if Chosen.kind is Kind.DOUBLE else 10), set_enum),
    "attribute of an object": (lambda x: x * settings.factor, set_instance),
    "entry of a class's dictionary": (lambda x: x * Settings.table["factor"], set_dictionary),
    "global variable": (lambda x: x * factor, set_global),
}


def main():
    print(f"torch {torch.__version__}")
    for name, (function, setter) in PLACES.items():
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="eager")
        outputs = []
        for value in (2.0, 10.0):
            setter(value)
            outputs.append(compiled(torch.ones(1)).item())
        print(f"{name:32} {outputs}  right: [2.0, 10.0]")


if __name__ == "__main__":
    main()
