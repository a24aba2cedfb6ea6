"""Block by block, logits minus their maximum."""

import torch


def compress_kv(kv, gate, bias, m, overlap):
    wide = torch.promote_types(kv.dtype, torch.float32)
    half = kv.shape[2] // 2
    width = half if overlap else kv.shape[2]
    blocks = []
    for w in range(kv.shape[1] // m):
        here = slice(w * m, (w + 1) * m)
        value, score = kv[:, here].to(wide), gate[:, here].to(wide) + bias.to(wide)
        if overlap:
            value, score = value[..., half:], score[..., half:]
        if overlap and w > 0:
            before = slice((w - 1) * m, w * m)
            value = torch.cat([kv[:, before, :half].to(wide), value], 1)
            score = torch.cat([gate[:, before, :half].to(wide) + bias[:, :half].to(wide), score], 1)
        e = torch.exp(score - score.detach().amax(1, keepdim=True))
        blocks.append((e * value).sum(1) / e.sum(1))
    if not blocks:
        return kv.new_zeros(kv.shape[0], 0, width)
    return torch.stack(blocks, 1).to(kv.dtype)


def block_visible(T, n, m, start=0):
    return torch.tensor([[(w + 1) * m <= start + t + 1 for w in range(n)] for t in range(T)]).bool().reshape(T, n)
