"""Loads without a mask on the experts.
读的时候没有按专家数加 mask。

symptom: A row reaches into the next token's logits, the last one beyond the tensor.
症状：一行读进了下一个 token 的 logits，最后一行越界。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def route(x_ptr, weights_ptr, indices_ptr, T, E, k, BT: tl.constexpr, BE: tl.constexpr, BK: tl.constexpr):
    tokens = tl.program_id(0) * BT + tl.arange(0, BT)
    experts, slots = tl.arange(0, BE), tl.arange(0, BK)
    here = (tokens[:, None] < T) & (experts[None, :] < BE)
    x = tl.load(x_ptr + tokens[:, None] * E + experts[None, :], mask=here, other=float("-inf")).to(tl.float32)
    free = tl.broadcast_to(experts[None, :] < E, (BT, BE))
    values = tl.full((BT, BK), float("-inf"), tl.float32)
    indices = tl.zeros((BT, BK), tl.int32)
    for slot in range(k):
        best = tl.max(tl.where(free, x, float("-inf")), 1)
        first = tl.min(tl.where(free & (x == best[:, None]), experts[None, :], BE), 1)
        free = free & (experts[None, :] != first[:, None])
        values = tl.where(slots[None, :] == slot, best[:, None], values)
        indices = tl.where(slots[None, :] == slot, first[:, None], indices)
    top = tl.max(values, 1)
    top = tl.where(tokens < T, top, 0.0)
    p = tl.exp(values - top[:, None])
    total = tl.sum(p, 1)
    weights = p / tl.where(tokens < T, total, 1.0)[:, None]
    at = tokens[:, None] * k + slots[None, :]
    mask = (tokens[:, None] < T) & (slots[None, :] < k)
    tl.store(weights_ptr + at, weights, mask=mask)
    tl.store(indices_ptr + at, indices.to(tl.int64), mask=mask)


def topk_router(logits, k):
    logits = logits.contiguous()
    T, E = logits.shape
    weights = torch.empty(T, k, dtype=torch.float32, device=logits.device)
    indices = torch.empty(T, k, dtype=torch.int64, device=logits.device)
    BE, BK = triton.next_power_of_2(E), triton.next_power_of_2(k)
    route[(triton.cdiv(T, 16),)](logits, weights, indices, T, E, k, BT=16, BE=BE, BK=BK)
    return weights, indices
