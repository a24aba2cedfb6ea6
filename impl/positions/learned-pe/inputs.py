"""Tables just long enough and longer, every start, two modules, and positions out of range."""

from __future__ import annotations

import torch

AXES = {"x": "B T D", "forward.return": "B T D", "parameters.0": "max_len D", "parameters.return[0]": "max_len D"}
SIZES = {"start": (0, 4, 90), "B": (1, 4), "T": (1, 5, 40), "D": (1, 5, 70), "spare": (0, 3)}
DERIVED = {"max_len": "start + T + spare"}
MODULES_UNCHANGED = True
_TABLE = "parameters.0"  # the only parameter, whatever its name


def module(make, max_len, D):
    made = make.new("LearnedPositional", max_len, D)
    make.set(made, {_TABLE: make.normal(max_len, D)})
    return made


def case(make):
    kind = make.pick(["once", "several", "two modules", "too long"])
    T, D, start, max_len = make.sizes("T", "D", "start", "max_len")
    x, made = make.argument("x"), module(make, max_len, D)
    make.train(made, make.pick([False, True]))
    make.method(made, "forward", x, **make.pick([{"start": start}, {}]))
    if kind == "several":
        for position in (start + T - 1, 0):
            make.method(made, "forward", make.normal(1, 1, D), position)
    elif kind == "two modules":
        other = module(make, max_len, D)
        make.method(other, "forward", x, start)
        make.method(made, "forward", x, 0)
    elif kind == "too long":
        for wrong in (max_len - T + 1, -1, max_len, -max_len):
            make.method_raises(ValueError, made, "forward", x, wrong)
        make.method(made, "forward", x, max_len - T)
    make.read(made, "parameters")


def edge_another_table(make):
    """an updated table: the new rows are added

    表更新之后加新的行
    """
    made, x = module(make, 5, 3), make.normal(2, 3, 3)
    make.compare(make.method(made, "forward", x, 1), False)  # the update is in place: its graph is gone
    make.set(made, {_TABLE: make.normal(5, 3)})
    make.method(made, "forward", x, 1)


def edge_dtypes_that_differ(make):
    """a float32 or bfloat16 table: the result follows the dtype of x, x keeps every digit

    表是 float32 或 bfloat16：结果的 dtype 与 x 相同，x 的每一位都保住
    """
    for table in (torch.float32, torch.bfloat16):
        made = make.new("LearnedPositional", 4, 3)
        make.cast(made, table)
        make.set(made, {_TABLE: make.keep((torch.arange(12).reshape(4, 3) / 3 - 1.6).to(table), dtype="fixed")})
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            x = torch.linspace(-1, 1.3, 12, dtype=torch.float64).reshape(2, 2, 3).to(dtype)
            make.method(made, "forward", make.keep(x, dtype="fixed"), 1)
