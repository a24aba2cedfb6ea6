"""Matrices of every rank and steepness; layers that mix features or tokens; coefficients of either sign."""

from __future__ import annotations

import torch

AXES = {
    "logits": "... n n",
    "sinkhorn.return": "... n n",
    "x": "B S n D",
    "pre": "B S n",
    "post": "B S n",
    "comb": "B S n n",
    "mhc_step.return": "B S n D",
}
SIZES = {"B": (1, 2), "S": (1, 5, 70), "n": (1, 4), "D": (1, 5, 90)}
HARDENED = {"edge_dtype_of_the_layer"}
_LAYERS = (("torch.nn.Tanh",), ("torch.nn.Softmax", -1), ("torch.nn.Softmax", 1), ("torch.nn.Identity",))


def case(make):
    if make.flag():
        logits = make.argument("logits", scale=make.pick([1.0, 4.0]))
        make.call("sinkhorn", logits, iters=make.pick([20, 1, 2, 3, 7]))
    else:
        step(make, make.pick(_LAYERS))


def step(make, layer):
    x, pre, *others = make.arguments("x", "pre", "post", "comb")
    if (
        make.dtype.itemsize == 2
    ):  # a mixture and a layer in 16 bits have no single right value: one stream is read as it is
        pre, layer = make.keep(torch.zeros(pre.shape).index_fill(-1, torch.tensor(0), 1.0), grad=True), _LAYERS[-1]
    make.call("mhc_step", x, pre, *others, make.new(*layer))


def stable(make):
    """Logits of ±30 around 0, 10³ or −10³."""
    shape = (*make.lead(), *make.sizes("n", "n"))
    z = 60.0 * torch.rand(shape, generator=make.random, dtype=torch.float64) - 30.0
    level = make.pick([0.0, 1000.0, -1000.0])
    make.call("sinkhorn", make.keep((z * 16).round() / 16 + level, grad=True), make.pick([20, 1, 3]))


def edge_one_iteration(make):
    """one iteration: rows first, then columns; two are not three

    只迭代一次：先行后列；两次不是三次
    """
    logits = make.keep(torch.tensor([[2.0, 0.0, -1.0], [0.5, 3.0, 0.0], [-2.0, 1.0, 4.0]]), grad=True)
    for iters in (1, 2, 3, 50):
        make.call("sinkhorn", logits, iters)


def edge_a_common_number(make):
    """10³ and −10³ added to all logits: exp of it overflows, or is 0

    所有 logits 加 10³ 或 −10³：直接取 exp 会溢出或全变 0
    """
    z = torch.tensor([[1.0, -0.5], [0.25, 2.0]])
    for level in (0.0, 1000.0, -1000.0):
        make.call("sinkhorn", make.keep(z + level, grad=True), 5)


def edge_rows_far_below(make):
    """a row 45 below the others, a column 45 below: an ε would swallow it

    某一行或某一列比其他的低 45：加 ε 会把它吞掉
    """
    row = torch.tensor([[1.0, 0.5, 0.0], [-44.0, -45.0, -44.5], [0.0, 1.0, 2.0]])
    for logits in (row, row.T.clone()):
        for iters in (1, 20):
            make.call("sinkhorn", make.keep(logits, grad=True), iters)


def edge_doubly_stochastic_mixing(make):
    """a mixing without symmetry, post = 0, pre = 0, a single stream

    不对称的混合；post = 0；pre = 0；只有一条流
    """
    make.hold(B=1, S=2, n=3, D=4)
    x, pre, post = make.arguments("x", "pre", "post")
    comb = make.keep(
        torch.tensor([[0.75, 0.25, 0.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]]).expand(1, 2, 3, 3), grad=True
    )
    zero = make.keep(torch.zeros(1, 2, 3), grad=True)
    for before, after in ((pre, post), (pre, zero), (zero, post)):
        make.call("mhc_step", x, before, after, comb, make.new("torch.nn.Softmax", -1))


def edge_called_once(make):
    """the layer is called once, with one (B, S, D)

    这一层只调用一次，输入是一个 (B, S, D)
    """
    make.hold(B=2, S=3, n=4, D=5)
    arguments = (make.argument(name) for name in ("x", "pre", "post", "comb"))
    x, pre, post, comb = (make.keep(tensor) for tensor in arguments)
    layer = make.callable(lambda h: 2.0 * h)
    make.count(layer)
    make.call("mhc_step", x, pre, post, comb, layer)


def edge_dtype_of_the_layer(make):
    """16 bits: the layer gets the dtype of x, as its weights would ask

    16 位：传给层的必须是 x 的 dtype，否则与层的权重对不上
    """

    def layer(h):
        if h.dtype not in (torch.bfloat16, torch.float16):
            raise TypeError(f"the layer's weights are of 16 bits, its input is {h.dtype}")
        return 2.0 * h

    for dtype in (torch.bfloat16, torch.float16):
        shapes = (1, 2, 3, 4), (1, 2, 3), (1, 2, 3), (1, 2, 3, 3)
        tensors = (torch.randn(shape, generator=make.random).to(dtype) for shape in shapes)
        make.call("mhc_step", *[make.keep(tensor, dtype="fixed") for tensor in tensors], make.callable(layer))
