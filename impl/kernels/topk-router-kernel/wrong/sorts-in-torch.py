"""Chooses with torch.topk and leaves the softmax to the kernel.
用 torch.topk 来选，kernel 只做 softmax。

symptom: The choice is another kernel, and its order among equal logits is not promised.
症状：选择是另一个 kernel 做的，而且 logits 相等时的先后没有保证。

cards: moe-03
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def soften(values_ptr, weights_ptr, k, BK: tl.constexpr):
    token, slots = tl.program_id(0), tl.arange(0, BK)
    x = tl.load(values_ptr + token * k + slots, mask=slots < k, other=float("-inf")).to(tl.float32)
    p = tl.exp(x - tl.max(x, 0))
    tl.store(weights_ptr + token * k + slots, p / tl.sum(p, 0), mask=slots < k)


def topk_router(logits, k):
    values, indices = torch.topk(logits, k, dim=1)
    weights = torch.empty(logits.shape[0], k, dtype=torch.float32, device=logits.device)
    soften[(logits.shape[0],)](values.contiguous(), weights, k, BK=triton.next_power_of_2(k))
    return weights, indices
