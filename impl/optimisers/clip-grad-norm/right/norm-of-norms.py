"""The norm of the tensors' norms; the factor only where it is needed."""

import math

import torch


def clip_grad_norm(grads, max_norm):
    with torch.no_grad():
        lengths = [torch.linalg.vector_norm(g, dtype=torch.promote_types(g.dtype, torch.float32)) for g in grads]
        widest = max((length.dtype for length in lengths), key=lambda dtype: dtype.itemsize)
        total = torch.linalg.vector_norm(torch.stack([length.to(widest) for length in lengths]))
        size = float(total)
        if math.isfinite(size) and size + 1e-6 > max_norm:
            factor = max_norm / (total + 1e-6)
            return [torch.mul(g.to(widest), factor).to(g.dtype) for g in grads], total
        return [g.clone() for g in grads], total
