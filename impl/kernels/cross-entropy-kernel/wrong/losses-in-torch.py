"""Computes the losses in torch and the gradient in the kernel.
损失用 torch 算，kernel 只算梯度。

symptom: Right values, several passes over the logits that are not the kernel's.
症状：值都对，但对 logits 多出好几遍访存，都不是 kernel 做的。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gradient(x_ptr, target_ptr, lse_ptr, grad_ptr, V, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target, lse = tl.load(target_ptr + row), tl.load(lse_ptr + row)
    for start in range(0, V, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * V + at, mask=at < V, other=0.0).to(tl.float32)
        grad = tl.exp(x - lse) - tl.where(at == target, 1.0, 0.0)
        grad = tl.where(target == ignore_index, 0.0, grad)
        tl.store(grad_ptr + row * V + at, grad.to(grad_ptr.dtype.element_ty), mask=at < V)


def cross_entropy(logits, targets, ignore_index=-100):
    logits, targets = logits.contiguous(), targets.contiguous()
    N, V = logits.shape
    lse = torch.logsumexp(logits.float(), dim=1)
    kept = targets != ignore_index
    aim = logits.float().gather(1, targets.where(kept, 0)[:, None])[:, 0]
    grad = torch.empty_like(logits)
    gradient[(N,)](logits, targets, lse, grad, V, ignore_index, BLOCK=1024)
    return (lse - aim).where(kept, 0.0), grad
