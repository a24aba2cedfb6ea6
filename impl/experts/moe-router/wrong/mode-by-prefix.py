"""Recognises modes by how they begin.
只看 mode 的开头。

symptom: A misspelt mode raises no ValueError.
症状：mode 拼错也不报 ValueError。

cards: moe-05
rung: solved
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def route(
    x: Tensor,
    wg: Tensor,
    k: int,
    mode: Literal["softmax_topk", "topk_softmax", "sigmoid_bias"],
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)  # (N, E)

    if mode == "softmax_topk":
        probs = logits.softmax(dim=-1)  # (N, E)
        idx = probs.topk(k, dim=-1).indices  # (N, k)
        weights = probs.gather(-1, idx)  # (N, k)
    elif mode == "topk_softmax":
        probs = logits.softmax(dim=-1)  # (N, E)
        idx = logits.topk(k, dim=-1).indices  # (N, k)
        weights = logits.gather(-1, idx).softmax(dim=-1)  # (N, k)
    elif mode.startswith("sigmoid"):
        probs = logits.sigmoid()  # (N, E)
        scores = probs if bias is None else probs + bias.to(wide)  # (N, E)
        idx = scores.topk(k, dim=-1).indices  # (N, k)
        chosen = probs.gather(-1, idx)  # (N, k)
        weights = chosen / chosen.sum(dim=-1, keepdim=True)  # (N, k)
    else:
        raise ValueError(f"unknown mode {mode!r}")

    return weights.to(x.dtype), idx, probs.to(x.dtype)
