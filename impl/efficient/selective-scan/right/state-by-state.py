"""One state of all channels after the other, decays as running sums of logarithms within each token."""

import torch


def ssm_scan(x, dt, A, Bm, C):
    up = torch.float64 if x.dtype == torch.float64 else torch.float32
    delta = torch.logaddexp(dt.to(up), torch.zeros((), dtype=up, device=dt.device))
    y = torch.zeros(x.shape, dtype=up, device=x.device)
    for n in range(A.shape[1]):
        decay = torch.exp(delta * A[:, n].to(up))
        write = delta * x.to(up) * Bm[:, :, n, None].to(up)
        h, track = torch.zeros_like(write[:, 0]), []
        for t in range(x.shape[1]):
            h = decay[:, t] * h + write[:, t]
            track.append(h)
        y = y + torch.stack(track, 1) * C[:, :, n, None].to(up)
    return y.to(x.dtype)
