"""Chunks of every size, rows to be ignored by any number, gradients into one argument or both, and what is kept for them."""

from __future__ import annotations

import torch

AXES = {"x": "N D", "w": "V D", "target": "N"}
SIZES = {"N": (1, 7, 70), "V": (1, 6, 90), "D": (1, 5, 33), "chunk": (1, 4)}
TOLERANCE = {
    "float32": 1e-6,
    "float64": 1e-14,
    "bfloat16": 1e-6,
    "float16": 1e-6,
}  # a loss of 0 is a difference of logits, which may be summed in any order
TOLERANCE_STABLE = {"float32": 2e-2, "float64": 1e-10}  # at 10⁴ and beyond


def call(make, x, w, target, *args, **kwargs):
    make.call("linear_cross_entropy", x, w, make.keep(target), *args, **kwargs)


def targets(make, N, V, ignored=0.0, ignore_index=-100):
    chosen = make.integers(0, V, N)
    return torch.where(torch.rand(N, generator=make.random) < ignored, ignore_index, chosen)


def case(make):
    N, V, chunk = make.sizes("N", "V", "chunk")
    ignore_index = make.pick([-100, -1, 0, -100])
    target = targets(make, N, V, make.pick([0.4, 0.0]), ignore_index)
    x, w = make.argument("x"), make.argument("w", scale=make.pick([1.0, 3.0]))
    call(make, x, w, target, chunk=make.pick([chunk, 1024, N + 1, N]), ignore_index=ignore_index)


def stable(make):
    N, V = make.size(1, 5), make.size(2, 5)
    call(make, make.normal(N, 3), make.normal(V, 3), targets(make, N, V, 0.2), make.pick([2, 1, 1024]))


def edge_ignored_rows(make):
    """ignored rows: whole chunks, all but one, ignore_index equal to a class; all ignored: 0, and zero gradients

    要忽略的行：整块、只剩一行不忽略、忽略的正好是某个类别；全部忽略时损失为 0，梯度为 0
    """
    x, w = make.normal(6, 3), make.normal(4, 3)
    for row, ignore_index in (
        ([-100, -100, 1, 3, -100, 0], -100),
        ([-100, -100, -100, -100, 2, -100], -100),
        ([0, 2, 2, 1, 2, 3], 2),
        ([7, 1, 7, 7, 0, 3], 7),
        ([-100] * 6, -100),
        ([3] * 6, 3),
    ):
        for chunk in (2, 4, 1024):
            call(make, x, w, torch.tensor(row), chunk, ignore_index)


def edge_chunks(make):
    """chunks of one, of some with a rest, of all rows, and larger; more classes than rows, and fewer

    每块一行、有余数、正好全部、比全部还大；类别比行多，或比行少
    """
    for N, V in ((7, 3), (3, 7), (1, 1), (5, 1)):
        x, w, target = make.normal(N, 4), make.normal(V, 4), targets(make, N, V)
        for chunk in (1, 2, 3, N, N + 1):
            call(make, x, w, target, chunk)


def edge_gradients_of_one(make):
    """only x, or only w, requires a gradient

    只有 x 要梯度，或只有 w 要梯度
    """
    for wanted in (True, False):
        x, w = make.normal(5, 3, grad=wanted), make.normal(4, 3, grad=not wanted)
        call(make, x, w, targets(make, 5, 4, 0.3), 2)


def edge_logits_of_ten_thousand(make):
    """logits of ±10⁴, the right class far ahead or far behind

    logits 到 ±10⁴，正确的类别遥遥领先，或远远落后
    """
    x, w = torch.tensor([[100.0], [-100.0], [1.0]]), torch.tensor([[100.0], [-100.0], [99.99], [0.0]])
    args = make.keep(x, grad=True), make.keep(w, grad=True)
    for row in ([0, 1, 2], [1, 0, 3], [2, 3, 1]):
        call(make, *args, torch.tensor(row), 2)


def edge_many_rows_in_16_bits(make):
    """bfloat16 and float16 over 512 rows, one a chunk: sums in 16 bits lose the late ones

    bfloat16、float16，512 行，每块一行：用 16 位求和，后面的会加不进去
    """
    x, w = 1.0 + (torch.arange(1024).reshape(512, 2) % 5) / 4, torch.tensor([[0.5, -1.0], [1.5, 0.25], [-0.5, 1.0]])
    for dtype in (torch.bfloat16, torch.float16):
        args = [make.keep(t.to(dtype), dtype="fixed") for t in (x, w)]
        call(make, *args, torch.arange(512) % 3, 1)


def leaves(make, size):
    """As many rows as classes, in parameters: a call keeps what its backward pass will need."""
    x, w = (make.new("torch.nn.Parameter", make.normal(size, 8, grad=False)) for _ in range(2))
    return x, w, make.keep(targets(make, size, size))


def forward_at(make, size):
    x, w, target = leaves(make, size)
    make.method(make.method(x, "sum"), "backward")  # a program with a backward pass is measured with autograd on
    make.call("linear_cross_entropy", x, w, target, 16)


def backward_at(make, size):
    make.method(make.call("linear_cross_entropy", *leaves(make, size), 16), "backward")


CONTRACTS = [
    {
        "check": "memory",
        "measure": "peak",
        "real": {"size": 131_072, "en": "131,072 rows and classes", "zh": "131,072 行、131,072 类"},
        "case": record,
        "sizes": (64, 128, 256),
        "growth_at_most": 1.0,
        "bound": lambda size: 640 * size,  # bytes: gradients of both are 64, five chunks of logits 320
        "says": {
            "en": f"the memory of the {en} grows with N·V: the logits of all chunks are alive together",
            "zh": f"{zh}的内存随 N·V 增长：所有块的 logits 同时留在内存里",
        },
    }
    for record, en, zh in ((forward_at, "call", "前向"), (backward_at, "backward pass", "反向"))
]
