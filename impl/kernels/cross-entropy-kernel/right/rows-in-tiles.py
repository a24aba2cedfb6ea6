"""Eight rows a program, tile by tile; each lane keeps a maximum and a sum of its own until the end of the row."""

import torch
import triton
import triton.language as tl


@triton.jit
def tiles(x_ptr, target_ptr, loss_ptr, grad_ptr, N, V, ignore_index, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    targets = tl.load(target_ptr + rows, mask=rows < N, other=ignore_index)
    kept = targets != ignore_index
    m = tl.full([ROWS, BLOCK], -1e38, tl.float32)
    l = tl.zeros([ROWS, BLOCK], tl.float32)
    aim = tl.zeros([ROWS], tl.float32)
    for start in range(0, V, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = kept[:, None] & (at < V)[None, :]
        x = tl.load(x_ptr + rows[:, None] * V + at[None, :], mask=mask, other=float("-inf")).to(tl.float32)
        new = tl.maximum(m, x)
        l = l * tl.exp(m - new) + tl.exp(x - new)
        m = new
        aim += tl.sum(tl.where(at[None, :] == targets[:, None], x, 0.0) * tl.where(kept, 1.0, 0.0)[:, None], 1)
    top = tl.max(m, 1)
    total = tl.where(kept, tl.sum(l * tl.exp(m - top[:, None]), 1), 1.0)
    loss = top - aim + tl.log(total)
    tl.store(loss_ptr + rows, tl.where(kept, loss, 0.0), mask=rows < N)
    for start in range(0, V, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = kept[:, None] & (at < V)[None, :]
        x = tl.load(x_ptr + rows[:, None] * V + at[None, :], mask=mask, other=float("-inf")).to(tl.float32)
        hit = tl.where((at[None, :] == targets[:, None]) & kept[:, None], 1.0, 0.0)
        grad = tl.exp(x - top[:, None]) / total[:, None] - hit
        inside = (rows < N)[:, None] & (at < V)[None, :]
        tl.store(grad_ptr + rows[:, None] * V + at[None, :], grad.to(grad_ptr.dtype.element_ty), mask=inside)


def cross_entropy(logits, targets, ignore_index=-100):
    logits, targets = logits.contiguous(), targets.contiguous()
    N, V = logits.shape
    loss = torch.empty(N, dtype=torch.float32, device=logits.device)
    grad = torch.empty(N, V, dtype=logits.dtype, device=logits.device)
    tiles[(triton.cdiv(N, 8),)](logits, targets, loss, grad, N, V, ignore_index, ROWS=8, BLOCK=128)
    return loss, grad
