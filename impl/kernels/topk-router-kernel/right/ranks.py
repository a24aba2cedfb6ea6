"""One token a program: an expert's rank is the number of those before it, all pairs compared; each of the first k finds its slot."""

import torch
import triton
import triton.language as tl


@triton.jit
def route(x_ptr, weights_ptr, indices_ptr, row_stride, expert_stride, E, k, BE: tl.constexpr):
    token = tl.program_id(0)
    e = tl.arange(0, BE)
    at = x_ptr + token * row_stride + e * expert_stride
    x = tl.load(at, mask=e < E, other=float("-inf")).to(tl.float32)
    ahead = (x[None, :] > x[:, None]) | ((x[None, :] == x[:, None]) & (e[None, :] < e[:, None]))
    rank = tl.sum(ahead.to(tl.int32), 1)
    chosen = (rank < k) & (e < E)
    p = tl.where(chosen, tl.exp(x - tl.max(x, 0)), 0.0)
    tl.store(weights_ptr + token * k + rank, p / tl.sum(p, 0), mask=chosen)
    tl.store(indices_ptr + token * k + rank, e.to(tl.int64), mask=chosen)


def topk_router(logits, k):
    T, E = logits.shape
    weights = torch.empty(T, k, dtype=torch.float32, device=logits.device)
    indices = torch.empty(T, k, dtype=torch.int64, device=logits.device)
    route[(T,)](logits, weights, indices, *logits.stride(), E, k, BE=triton.next_power_of_2(E))
    return weights, indices
