"""Tables that are just long enough and longer, every start, two modules at a time, and positions out of range."""

from __future__ import annotations

import torch

AXES = {"x": "B T D", "forward.return": "B T D", "parameters.0": "max_len D", "parameters.return[0]": "max_len D"}
SIXTEEN_BITS = "native"
MODULES_UNCHANGED = True  # a call leaves nothing in the module
_TABLE = "parameters.0"  # the only parameter, whatever its name


def module(make, max_len, D):
    made = make.new("LearnedPositional", max_len, D)
    make.set(made, {_TABLE: make.normal(max_len, D)})
    return made


def case(make):
    B, T, D, start, spare = make.size(1, 4), make.size(1, 5), make.size(1, 5), make.size(0, 4), make.size(0, 3)
    made = module(make, start + T + spare, D)
    kind = make.pick(["start", "from the beginning", "keyword", "several", "too long"])
    if kind == "start":
        make.method(made, "forward", make.normal(B, T, D), start)
    elif kind == "from the beginning":
        make.method(made, "forward", make.normal(B, T, D))
    elif kind == "keyword":
        make.method(made, "forward", make.normal(B, T, D), start=start)
    elif kind == "several":
        make.method(made, "forward", make.normal(B, T, D), start)
        make.method(made, "forward", make.normal(1, 1, D), start + T - 1)
        make.method(made, "forward", make.normal(B, T, D), 0)
    else:
        make.method_raises(ValueError, made, "forward", make.normal(B, T, D), start + spare + 1)
    make.read(made, "parameters")


def edge_one_token(make):
    """one token at position 3 of 5, as in decoding

    单个 token，在 5 个位置中的位置 3，像解码时那样
    """
    make.method(module(make, 5, 4), "forward", make.normal(2, 1, 4), 3)


def edge_table_just_long_enough(make):
    """start + T = max_len still fits

    start + T = max_len 正好放得下
    """
    made = module(make, 6, 3)
    make.method(made, "forward", make.normal(2, 4, 3), 2)
    make.method(made, "forward", make.normal(2, 6, 3))


def edge_one_position(make):
    """a table of a single position, D = 1

    表只有一个位置，D = 1
    """
    make.method(module(make, 1, 1), "forward", make.normal(3, 1, 1))


def edge_as_many_items_as_tokens(make):
    """B = T: rows belong to positions, not to items of the batch

    B = T：表的行对应位置，而不是 batch 里的各条
    """
    make.method(module(make, 5, 4), "forward", make.normal(3, 3, 4), 1)


def edge_out_of_range(make):
    """positions outside the table raise ValueError, on both sides

    位置超出表的范围，两头都抛 ValueError
    """
    made = module(make, 5, 3)
    make.method_raises(ValueError, made, "forward", make.normal(1, 6, 3))
    make.method_raises(ValueError, made, "forward", make.normal(1, 3, 3), 3)
    make.method_raises(ValueError, made, "forward", make.normal(1, 1, 3), 5)
    make.method_raises(ValueError, made, "forward", make.normal(1, 2, 3), -1)
    make.method_raises(ValueError, made, "forward", make.normal(1, 1, 3), start=-5)
    make.method_raises(ValueError, made, "forward", make.normal(1, 1, 3), -1)
    make.method(made, "forward", make.normal(1, 5, 3))


def edge_only_used_rows_learn(make):
    """rows 0 and 4 of the table get no gradient

    表的第 0 行和第 4 行没用到，梯度为 0
    """
    make.method(module(make, 5, 3), "forward", make.normal(2, 3, 3), 1)


def edge_first_row_learns(make):
    """position 0 is a position like any other, and trains

    位置 0 和别的位置一样要训练
    """
    made = module(make, 4, 3)
    make.method(made, "forward", make.normal(2, 1, 3))
    make.method(made, "forward", make.normal(2, 4, 3))


def edge_the_table_is_the_only_parameter(make):
    """one parameter of shape (max_len, D) and nothing else in it, before and after a call

    调用前后都只有一个形状为 (max_len, D) 的参数，别无其他
    """
    made = module(make, 4, 3)
    make.read(made, "parameters")
    make.method(made, "forward", make.normal(2, 2, 3), 1)
    make.read(made, "parameters")


def edge_two_modules(make):
    """two modules have a table each

    两个模块各有一张表
    """
    first, second = module(make, 4, 3), module(make, 4, 3)
    x = make.normal(2, 3, 3)
    make.method(first, "forward", x, 1)
    make.method(second, "forward", x, 1)
    make.method(first, "forward", x)


def edge_eval(make):
    """training and evaluation give the same

    训练模式和评估模式结果相同
    """
    made = module(make, 4, 3)
    x = make.normal(2, 3, 3)
    make.train(made, False)
    make.method(made, "forward", x)
    make.train(made, True)
    make.method(made, "forward", x)


def edge_out_of_range_in_evaluation(make):
    """evaluation raises the same errors

    评估模式下同样抛 ValueError
    """
    made = module(make, 5, 3)
    make.train(made, False)
    make.method_raises(ValueError, made, "forward", make.normal(1, 3, 3), 3)
    make.method_raises(ValueError, made, "forward", make.normal(1, 1, 3), 5)
    make.method_raises(ValueError, made, "forward", make.normal(2, 2, 3), -1)
    make.method(made, "forward", make.normal(1, 2, 3), 3)


def edge_no_memory_of_the_last_call(make):
    """a single token after a longer text stands where start says, at 0 unless it says more

    长文本之后来单个 token：位置由 start 决定，不传就是 0
    """
    made = module(make, 7, 3)
    make.method(made, "forward", make.normal(2, 5, 3))
    make.method(made, "forward", make.normal(2, 1, 3))
    make.method(made, "forward", make.normal(2, 1, 3), 6)
    make.method(made, "forward", make.normal(2, 1, 3))


def edge_another_table(make):
    """after an update of the table the new rows are added

    表更新之后，加上的是新的行
    """
    made = module(make, 5, 3)
    x = make.normal(2, 3, 3)
    make.compare(make.method(made, "forward", x, 1), False)  # the update is in place: its graph is gone
    make.set(made, {_TABLE: make.normal(5, 3)})
    make.method(made, "forward", x, 1)


def edge_long_and_wide(make):
    """positions 90 to 129 of 150, D = 70

    表长 150，用到位置 90 到 129，D = 70
    """
    made = module(make, 150, 70)
    make.method(made, "forward", make.normal(1, 40, 70), 90)
    make.method(made, "forward", make.normal(1, 1, 70), 149)


def edge_mixed_dtypes(make):
    """a float32 table and float16 or float64 activations: the result follows x

    表是 float32，激活是 float16 或 float64：结果的 dtype 与 x 相同
    """
    made = make.new("LearnedPositional", 4, 3)
    make.set(made, {_TABLE: make.normal(4, 3)})
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        make.method(made, "forward", make.keep(torch.full((1, 2, 3), 0.5, dtype=dtype), dtype="fixed"), 1)


def edge_narrow_table(make):
    """a bfloat16 table under float32 and float64 activations: x keeps every digit

    表是 bfloat16，激活是 float32 和 float64：x 的每一位都要保住
    """
    for dtype in (torch.float32, torch.float64):
        made = make.new("LearnedPositional", 4, 3)
        make.cast(made, torch.bfloat16)
        make.set(made, {_TABLE: make.keep(torch.linspace(-2, 2, 12).reshape(4, 3).bfloat16(), dtype="fixed")})
        x = torch.linspace(-1, 1.3, 12, dtype=dtype).reshape(2, 2, 3)
        make.method(made, "forward", make.keep(x, dtype="fixed"), 1)
