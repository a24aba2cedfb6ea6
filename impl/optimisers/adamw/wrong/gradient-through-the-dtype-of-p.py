"""Rounds the gradient to the dtype of p first.
先把梯度舍入到 p 的 dtype。

symptom: float32 gradients of a bfloat16 p lose 16 bits; under float16 small ones vanish.
症状：p 是 bfloat16 时 float32 梯度丢 16 位；float16 下小梯度变成 0。

cards: prec-06
rung: hardened
"""
from typing import Any
import torch
from torch import Tensor


@torch.no_grad()
def adamw_step(
    p: Tensor,
    g: Tensor,
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Tensor:
    dt = torch.promote_types(p.dtype, torch.float32)
    if not state:
        state["t"] = 0
        state["m"] = torch.zeros(p.shape, dtype=dt, device=p.device)
        state["v"] = torch.zeros(p.shape, dtype=dt, device=p.device)
    b1, b2 = betas
    g = g.to(p.dtype).to(dt)
    state["t"] += 1
    t = state["t"]
    m = b1 * state["m"] + (1 - b1) * g
    v = b2 * state["v"] + (1 - b2) * g * g
    state["m"], state["v"] = m, v
    m_hat = m / (1 - b1**t)
    v_hat = v / (1 - b2**t)
    new = p.to(dt) * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + eps)
    return new.to(p.dtype)
