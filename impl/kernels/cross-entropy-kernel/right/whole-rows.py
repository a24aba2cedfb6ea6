"""A row in one block as wide as the next power of two: its logits are loaded once."""

import torch
import triton
import triton.language as tl


@triton.jit
def whole(x_ptr, target_ptr, loss_ptr, grad_ptr, stride, step, V, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    classes = tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    kept = target != ignore_index
    x = tl.load(x_ptr + row * stride + classes * step, mask=(classes < V) & kept, other=float("-inf")).to(tl.float32)
    top = tl.where(kept, tl.max(x, 0), 0.0)
    p = tl.exp(x - top)
    total = tl.where(kept, tl.sum(p, 0), 1.0)
    hit = (classes == target) & kept
    loss = tl.log(total) + top - tl.sum(tl.where(hit, x, 0.0), 0)
    tl.store(loss_ptr + row, tl.where(kept, loss, 0.0))
    grad = p / total - tl.where(hit, 1.0, 0.0)
    tl.store(grad_ptr + row * V + classes, grad.to(grad_ptr.dtype.element_ty), mask=classes < V)


def cross_entropy(logits, targets, ignore_index=-100):
    N, V = logits.shape
    loss = torch.empty(N, dtype=torch.float32, device=logits.device)
    grad = torch.empty(N, V, dtype=logits.dtype, device=logits.device)
    block = triton.next_power_of_2(V)
    whole[(N,)](logits, targets.contiguous(), loss, grad, *logits.stride(), V, ignore_index, BLOCK=block)
    return loss, grad
