"""One of the N states after the other, summed into the result."""

import torch


def ssm_scan(x, dt, A, Bm, C):
    wide = torch.promote_types(torch.float32, x.dtype)
    step = torch.logaddexp(dt.to(wide), torch.zeros((), dtype=wide, device=dt.device))
    drive = step * x.to(wide)
    total = torch.zeros_like(drive)
    for n in range(A.shape[1]):
        h, path = torch.zeros_like(drive[:, 0]), []
        for t in range(x.shape[1]):
            h = h * torch.exp(step[:, t] * A[:, n].to(wide)) + drive[:, t] * Bm[:, t, n, None].to(wide)
            path.append(h)
        total = total + torch.stack(path, 1) * C[:, :, n, None].to(wide)
    return total.to(x.dtype)
