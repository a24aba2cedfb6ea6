"""gather along the keys."""

import torch


def induction_score(attn, period):
    L, H, T, _ = attn.shape
    rows = attn[:, :, period:]
    keys = torch.arange(1, T - period + 1, device=attn.device).view(1, 1, -1, 1).expand(L, H, -1, 1)
    found = torch.gather(rows, -1, keys).squeeze(-1)
    return torch.mean(found, dim=-1, dtype=torch.promote_types(attn.dtype, torch.float32)).to(attn.dtype)
