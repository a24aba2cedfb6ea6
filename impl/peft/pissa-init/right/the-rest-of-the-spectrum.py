"""The residual from the other singular values; A and B by diagonal matrices; signs turned round."""

import torch


def pissa_init(W, r):
    x = W.detach()
    x = x.float() if x.element_size() == 2 else x
    U, S, Vh = torch.linalg.svd(x, full_matrices=False)
    half = torch.diag(S[:r] ** 0.5)
    A = -(half @ Vh[:r, :])
    B = -(U[:, :r] @ half)
    W_res = U[:, r:] @ torch.diag(S[r:]) @ Vh[r:, :]
    return tuple(part.to(W.dtype) for part in (A, B, W_res))
