"""Weights whose singular values are apart, so that the principal directions are certain; their signs are not."""

from __future__ import annotations

import torch

AXES = {"W": "O I", "return[0]": "r I", "return[1]": "O r", "return[2]": "O I"}
SIZES = {"O": (1, 6, 40), "I": (1, 5, 33)}
GRADIENTS = False
# Of the largest singular value; float16 and bfloat16 round A and B besides.
_TOLERANCES = {torch.float64: 1e-3, torch.float32: 1e-3, torch.float16: 0.01, torch.bfloat16: 0.05}
_FLOAT64_DIGITS = 1e-7  # of the tolerance


def weight(make, O, I, scale=1.0, values=None):
    """W with singular values 0.25 apart, or with the given ones."""
    n = min(O, I)
    values = 1.0 + 0.25 * torch.arange(n - 1, -1, -1) if values is None else torch.tensor(values)
    u, v = (torch.linalg.qr(torch.randn((size, n), generator=make.random, dtype=torch.float64)).Q for size in (O, I))
    return make.keep(scale * (u * values) @ v.T)


def asks(make, W, r):
    """Call the entry and check its three results, for any signs of the singular vectors."""
    exact = W.double()
    U, S, Vh = torch.linalg.svd(exact, full_matrices=False)
    best, within = (U[:, :r] * S[:r]) @ Vh[:r], _TOLERANCES[W.dtype] * float(S[0].clamp(min=1e-30))

    due_shapes = [(r, W.shape[1]), (W.shape[0], r), tuple(W.shape)]

    def holds(parts):
        parts = parts if isinstance(parts, (tuple, list)) else [parts]
        shapes = [tuple(part.shape) if isinstance(part, torch.Tensor) else None for part in parts]
        if shapes != due_shapes:
            yield f"shapes {shapes}, expected {due_shapes}", f"形状是 {shapes}，应为 {due_shapes}"
            return
        if any(part.dtype != W.dtype for part in parts):
            yield f"A, B and W_res are not all {W.dtype}, as W is", f"A、B、W_res 的 dtype 应与 W 一样是 {W.dtype}"
            return
        A, B, rest = (part.double() for part in parts)
        for got, due, english, chinese in (
            (B @ A, best, "BA is not the best approximation of rank r", "BA 不是秩 r 的最佳近似"),
            (rest + B @ A, exact, "W_res + BA is not W", "W_res + BA 不等于 W"),
            (A @ A.T, torch.diag(S[:r]), "AAᵀ is not diag(S_r)", "AAᵀ 不等于 diag(S_r)"),
            (B.T @ B, torch.diag(S[:r]), "BᵀB is not diag(S_r)", "BᵀB 不等于 diag(S_r)"),
        ):
            off = float((got - due).abs().max())
            said = f"{english}: largest error {off:.2g}; tolerance {{}}", f"{chinese}：最大误差 {off:.2g}；容差 {{}}"
            if not off <= within:
                yield tuple(part.format(f"{within:.2g}") for part in said)
            elif W.dtype == torch.float64 and off > within * _FLOAT64_DIGITS:
                yield make.digits_lost(*(part.format(f"{within * _FLOAT64_DIGITS:.2g}") for part in said))

    make.judge(holds, make.call("pissa_init", W, r))


def case(make):
    O, I = make.sizes("O", "I")
    r = min(make.pick([1, 2, 3, 99]), O, I)
    asks(make, weight(make, O, I, make.pick([1.0, 0.05, 20.0])), r)


def edge_every_direction(make):
    """r = min(O, I): the residual is 0

    r = min(O, I)：残差为 0
    """
    for O, I in ((3, 5), (5, 3), (4, 4)):
        asks(make, weight(make, O, I), min(O, I))


def edge_a_spectrum_that_decays(make):
    """singular values from 100 to 0.01, and a weight of rank 2: √S on both sides, the largest first

    奇异值从 100 到 0.01，以及秩为 2 的权重：两边各乘 √S，从大到小
    """
    for r in (1, 2, 4):
        asks(make, weight(make, 6, 5, 1.0, [100.0, 10.0, 1.0, 0.1, 0.01]), r)
    asks(make, weight(make, 4, 6, 1.0, [3.0, 1.0, 0.0, 0.0]), 2)


def edge_diagonal(make):
    """a diagonal weight, negative entries among them: directions are axes

    对角权重，有的元素为负：奇异方向就是坐标轴
    """
    asks(make, make.keep(torch.diag(torch.tensor([0.5, -3.0, 2.0, -1.0]))), 2)
