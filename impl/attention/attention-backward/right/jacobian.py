"""The whole Jacobian of every row, diag(p) − p·pᵀ."""

import torch


def sdpa_backward(q, k, v, do):
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v, do = (t.to(wide) for t in (q, k, v, do))
    root = q.shape[-1] ** 0.5
    p = torch.softmax(torch.einsum("...td,...sd->...ts", q, k) / root, -1)
    jacobian = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    arrives = torch.einsum("...te,...se->...ts", do, v)
    ds = torch.einsum("...ts,...tsu->...tu", arrives, jacobian) / root
    grads = (
        torch.einsum("...ts,...sd->...td", ds, k),
        torch.einsum("...ts,...td->...sd", ds, q),
        torch.einsum("...ts,...te->...se", p, do),
    )
    return tuple(g.to(dtype) for g in grads)
