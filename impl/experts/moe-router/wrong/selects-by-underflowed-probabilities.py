"""Selects by the full softmax instead of the logits.
不按 logits 而按全体 softmax 选。

symptom: Logits far apart: probabilities underflow to 0, a worse expert wins.
症状：logits 相差很大时概率下溢成 0，选到更差的专家。

cards: moe-05
rung: solved
"""
from typing import Literal, Optional
import torch
from torch import Tensor


def route(x: Tensor, wg: Tensor, k: int, mode: str, bias: Optional[Tensor] = None) -> tuple[Tensor, Tensor, Tensor]:
    low = x.dtype in (torch.float16, torch.bfloat16)
    dt = torch.float32 if low else x.dtype
    logits = x.to(dt) @ wg.to(dt)
    if mode == "softmax_topk":
        probs = torch.softmax(logits, dim=-1)
        weights, idx = torch.topk(probs, k, dim=-1)
    elif mode == "topk_softmax":
        probs = torch.softmax(logits, dim=-1)
        idx = torch.topk(probs, k, dim=-1).indices
        top = logits.gather(-1, idx)
        weights = torch.softmax(top, dim=-1)
    elif mode == "sigmoid_bias":
        probs = torch.sigmoid(logits)
        score = probs.detach()
        if bias is not None:
            score = score + bias.detach().to(dt)
        idx = torch.topk(score, k, dim=-1).indices
        chosen = probs.gather(-1, idx)
        weights = chosen / chosen.sum(dim=-1, keepdim=True)
    else:
        raise ValueError(f"unknown mode {mode!r}")
    return weights.to(x.dtype), idx, probs.to(x.dtype)
