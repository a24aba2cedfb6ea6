"""Launches sixteen programs, whatever N.
不管 N 多大，都启动 16 个 program。

symptom: Further rows are never written; with fewer rows the programs reach beyond them.
症状：行数更多时后面的没人写；更少时 program 越过了末尾。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_and_gradient(x_ptr, target_ptr, loss_ptr, grad_ptr, V, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(target_ptr + row)
    if target == ignore_index:
        tl.store(loss_ptr + row, 0.0)
        for start in range(0, V, BLOCK):
            at = start + tl.arange(0, BLOCK)
            tl.store(grad_ptr + row * V + at, tl.zeros((BLOCK,), grad_ptr.dtype.element_ty), mask=at < V)
    else:
        m = float("-inf")
        l = 0.0
        for start in range(0, V, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * V + at, mask=at < V, other=float("-inf")).to(tl.float32)
            new = tl.maximum(m, tl.max(x, 0))
            shift = tl.where(new == float("-inf"), 0.0, new)
            l = l * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), 0)
            m = new
        lse = m + tl.log(l)
        tl.store(loss_ptr + row, lse - tl.load(x_ptr + row * V + target).to(tl.float32))
        for start in range(0, V, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * V + at, mask=at < V, other=float("-inf")).to(tl.float32)
            grad = tl.exp(x - lse) - tl.where(at == target, 1.0, 0.0)
            tl.store(grad_ptr + row * V + at, grad.to(grad_ptr.dtype.element_ty), mask=at < V)


def cross_entropy(logits, targets, ignore_index=-100):
    logits, targets = logits.contiguous(), targets.contiguous()
    N, V = logits.shape
    loss = torch.empty(N, dtype=torch.float32, device=logits.device)
    grad = torch.empty_like(logits)
    loss_and_gradient[(16,)](logits, targets, loss, grad, V, ignore_index, BLOCK=1024)
    return loss, grad
