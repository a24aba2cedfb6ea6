"""Steps in sequence on one or several states, with hyper-parameters drawn large enough for every term to show."""

from __future__ import annotations

import torch

SIXTEEN_BITS = "native"
GRADIENTS = False
WITHOUT_GRAPH = ("p", "g")

_SHAPES = [(3,), (2, 5), (), (4, 1, 3), (1,)]
HARDENED = {"edge_resumed", "edge_tiny_gradient", "edge_huge_spike"}


def settings(make):
    """lr, and the other hyper-parameters as keywords; some are left out."""
    lr = make.pick([0.1, 0.03, 0.5, 1e-3])
    chosen = {}
    if make.flag():
        chosen["betas"] = make.pick([(0.9, 0.999), (0.5, 0.8), (0.8, 0.9), (0.0, 0.5), (0.9, 0.95)])
    if make.flag():
        chosen["eps"] = make.pick([1e-8, 1e-2, 0.3, 1e-6])
    if make.flag():
        chosen["weight_decay"] = make.pick([0.3, 0.5, 0.0, 0.01, 1.5])
    return lr, chosen


def steps(make, count, shape, state, lr, chosen, scale=1.0):
    """`count` steps of one parameter, each from the result of the last."""
    p = make.normal(*shape)
    for _ in range(count):
        p = make.call("adamw_step", p, make.normal(*shape, scale=scale), state, lr, **chosen)
    return p


def case(make):
    shape = make.pick(_SHAPES)
    lr, chosen = settings(make)
    state = make.shared({})
    if make.profile == "meta":
        steps(make, 2, shape, state, lr, chosen)
        return
    count = make.size(1, 5)
    kind = make.pick(["one", "two in turns", "positional", "scales"])
    if kind == "one":
        steps(make, count, shape, state, lr, chosen)
    elif kind == "positional":
        p = make.normal(*shape)
        for _ in range(count):
            p = make.call("adamw_step", p, make.normal(*shape), state, lr, (0.8, 0.95), 1e-3, 0.4)
    elif kind == "scales":
        steps(make, count, shape, state, lr, chosen, scale=make.pick([100.0, 1e-2, 1e-4]))
    else:
        in_turns(make, count, shape, state, lr, chosen)


def in_turns(make, count, shape, state, lr, chosen):
    """Two parameters of one shape with states of their own; the second starts one step later."""
    other = make.shared({})
    p = make.call("adamw_step", make.normal(*shape), make.normal(*shape), state, lr, **chosen)
    q = make.normal(*shape)
    for _ in range(count):
        p = make.call("adamw_step", p, make.normal(*shape), state, lr, **chosen)
        q = make.call("adamw_step", q, make.normal(*shape), other, lr, **chosen)


def edge_first_step(make):
    """the very first step has length lr: −lr·sign(g) after the decay

    第一步的步长就是 lr：衰减之后再走 −lr·sign(g)
    """
    g = torch.tensor([3.0, -0.5, 1e-3, -200.0])
    make.call("adamw_step", make.normal(4), make.keep(g), make.shared({}), 0.1, weight_decay=0.0)
    make.call("adamw_step", make.normal(4), make.keep(g), make.shared({}), 0.1, weight_decay=0.5)


def edge_no_gradient(make):
    """g = 0 for ever: only the decay is left, p·(1 − lr·λ)^n

    g 一直为 0：只剩衰减，p·(1 − lr·λ)^n
    """
    state, p = make.shared({}), make.normal(3)
    for _ in range(4):
        p = make.call("adamw_step", p, make.keep(torch.zeros(3)), state, 0.1, weight_decay=0.5)


def edge_decay_is_the_same_for_all(make):
    """equal parameters with gradients of 100 and of 0.01 lose the same to the decay

    参数相同，梯度分别为 100 和 0.01：衰减量相同
    """
    state, p = make.shared({}), make.keep(torch.tensor([2.0, 2.0, -2.0, -2.0]))
    g = make.keep(torch.tensor([100.0, 0.01, 100.0, 0.01]))
    for _ in range(3):
        p = make.call("adamw_step", p, g, state, 0.1, (0.9, 0.999), 1e-8, 0.4)


def edge_tiny_gradient(make):
    """g = 10⁻²⁰: eps decides, and nothing becomes NaN

    g = 10⁻²⁰：由 eps 主导，不能出 NaN
    """
    state, p = make.shared({}), make.normal(3)
    for _ in range(2):
        p = make.call("adamw_step", p, make.keep(torch.full((3,), 1e-20)), state, 0.1, weight_decay=0.3)


def edge_huge_spike(make):
    """one gradient of 10⁶ among ordinary ones: its second moment is felt for long

    正常梯度里突然冒出一个 10⁶：二阶矩很久都受它影响
    """
    state, p = make.shared({}), make.normal(2)
    for size in (1.0, 1e6, 1.0, 1.0):
        p = make.call("adamw_step", p, make.normal(2, scale=size), state, 0.1, weight_decay=0.3)


def edge_large_eps(make):
    """eps = 0.5 stands outside the root and after the bias correction

    eps = 0.5：在根号外面，在偏差修正之后
    """
    state, p = make.shared({}), make.normal(3)
    for _ in range(3):
        p = make.call("adamw_step", p, make.normal(3, scale=0.3), state, 0.1, eps=0.5)


def edge_scalar_parameter(make):
    """a parameter without dimensions

    参数是标量（没有维度）
    """
    steps(make, 3, (), make.shared({}), 0.1, {"weight_decay": 0.3})


def edge_default_decay(make):
    """the default decay of 0.01 at a learning rate where it shows

    默认衰减 0.01，学习率大到看得出它的作用
    """
    state, p = make.shared({}), make.keep(torch.tensor([50.0, -80.0]))
    for _ in range(2):
        p = make.call("adamw_step", p, make.normal(2), state, 0.5)


def edge_learning_rate_changes(make):
    """a schedule: lr, betas and decay differ from step to step; lr = 0 moves the state and not the parameter

    按计划调整：每步的 lr、β、衰减都不同；lr = 0 时只更新 state，参数不动
    """
    state, p = make.shared({}), make.normal(4)
    hyper = ((0.0, (0.0, 0.9), 0.3), (0.1, (0.9, 0.99), 0.3), (0.02, (0.8, 0.99), 0.0), (0.3, (0.9, 0.9), 0.5))
    for lr, betas, decay in (*hyper, (0.0, (0.9, 0.99), 0.5)):
        p = make.call("adamw_step", p, make.normal(4), state, lr, betas, 1e-8, decay)


def edge_resumed(make):
    """states that come from a checkpoint, after 7, 60 and 900 steps, with betas up to 0.99 and 0.9999

    状态来自检查点：已走 7、60、900 步，β 最大到 0.99 和 0.9999
    """
    for t, betas in ((7, (0.8, 0.9)), (60, (0.99, 0.999)), (900, (0.9, 0.9999))):
        v = make.keep(torch.tensor([0.5, 0.25, 2.0]))
        state = make.shared({"t": t, "m": make.normal(3), "v": v})
        steps(make, 2, (3,), state, 0.1, {"weight_decay": 0.3, "betas": betas})


def edge_many_steps(make):
    """thirty steps of one parameter

    同一个参数走三十步
    """
    steps(make, 30, (2,), make.shared({}), 0.03, {"weight_decay": 0.3, "betas": (0.8, 0.95)})


def edge_two_parameters(make):
    """two parameters of one shape in turns, each with its own state

    两个形状相同的参数交替更新，各有一份状态
    """
    in_turns(make, 3, (3,), make.shared({}), 0.1, {"weight_decay": 0.3})


def edge_float16_gradients(make):
    """p in float32: float16 gradients of 10⁻⁴ and 300 are widened before they are squared, float64 ones narrowed

    p 为 float32：float16 梯度 10⁻⁴ 和 300 先升精度再平方，float64 梯度则降到 float32
    """
    g = make.keep(torch.tensor([1e-4, -1e-4, 300.0, 2e-7]).half(), dtype="fixed")
    p = make.keep(torch.tensor([1.0, -2.0, 0.5, 3.0]), dtype="fixed")
    state = make.shared({})
    for _ in range(2):
        p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.3)
    g = make.keep(torch.tensor([0.1, -0.3, 20.0, 1e-5], dtype=torch.float64), dtype="fixed")
    for _ in range(2):
        p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.3)
    state = make.shared({})
    for _ in range(2):
        p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.3)


def edge_wider_gradients(make):
    """p in bfloat16 or float16, gradients in float32: no step through the dtype of p

    p 为 bfloat16 或 float16，梯度为 float32：中间不许转成 p 的 dtype
    """
    g = make.keep(torch.tensor([1.003, -0.997, 1e-9]), dtype="fixed")
    for dtype in (torch.bfloat16, torch.float16):
        p, state = make.keep(torch.tensor([1.0, -2.0, 0.5]).to(dtype), dtype="fixed"), make.shared({})
        for _ in range(2):
            p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.3)


def edge_float16_parameters(make):
    """float16 parameter and gradient: moments in float32, the new parameter in float16

    参数和梯度都是 float16：矩用 float32，新参数仍是 float16
    """
    p = make.keep(torch.tensor([1.0, -2.0, 0.5]).half(), dtype="fixed")
    g = make.keep(torch.tensor([300.0, 1e-4, -1e-3]).half(), dtype="fixed")
    state = make.shared({})
    for _ in range(2):
        p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.3)


def edge_bfloat16_many_steps(make):
    """bfloat16 with β2 = 0.999: a second moment in bfloat16 would never move

    bfloat16，β2 = 0.999：二阶矩若用 bfloat16 存，就再也不动
    """
    p = make.keep(torch.tensor([1.0, -2.0]).bfloat16(), dtype="fixed")
    state = make.shared({})
    for size in (1.0, 0.5, 2.0, 4.0, 1.0, 0.25):
        g = make.keep(torch.tensor([size, -size]).bfloat16(), dtype="fixed")
        p = make.call("adamw_step", p, g, state, 0.1, weight_decay=0.1)
