"""Eigenvectors of the smaller Gram matrix in float64; the other side by a product."""

import torch


def pissa_init(W, r):
    with torch.no_grad():
        w = W.double()
        O, I = w.shape
        values, vectors = torch.linalg.eigh(w.T @ w if I <= O else w @ w.T)
        s = values.flip(0)[:r].clamp(min=0).sqrt()
        top = vectors.flip(1)[:, :r]
        root = s.sqrt()
        if I <= O:
            A = (top * root).T
            B = (w @ top) / root
        else:
            B = top * root
            A = ((w.T @ top) / root).T
        rest = w - B @ A
    return A.to(W.dtype), B.to(W.dtype), rest.to(W.dtype)
