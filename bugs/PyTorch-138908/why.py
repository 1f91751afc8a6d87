"""How often is a row halved (or doubled) that is named three times? By inductor, in a table of four rows and of one.

Once is right, and that is what the same functions do uncompiled. Shapes are static, as in every first compilation.
"""

import math

import torch


def multiplied(table, rows):
    table[rows] *= 0.5


def returned(table, rows):
    table[rows] *= 0.5
    return table


def assigned(table, rows):
    table[rows] = table[rows] * 0.5


def added(table, rows):
    table[rows] += table[rows]


def a_list(table, rows):
    table[[0, 0, 0]] += table[[0, 0, 0]]


WAYS = {
    "table[rows] *= 0.5": multiplied,
    "the same, table is returned": returned,
    "table[rows] = table[rows] * 0.5": assigned,
    "table[rows] += table[rows]": added,
    "table[[0, 0, 0]] += table[[0, 0, 0]]": a_list,
}


def times(function, size):
    table = torch.ones(size, 2)
    function(table, torch.tensor([0, 0, 0]))
    return abs(round(math.log2(table[0, 0].item())))


def main():
    print(f"torch {torch.__version__}")
    print(f"{'':36}  four rows    one row  uncompiled")
    for name, function in WAYS.items():
        found = []
        for size in (4, 1):
            torch._dynamo.reset()
            found.append(times(torch.compile(function), size))
        print(f"{name:36}  {found[0]:9}  {found[1]:9}  {times(function, 4):10}")


if __name__ == "__main__":
    main()
