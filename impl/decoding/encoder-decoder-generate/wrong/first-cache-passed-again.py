"""Passes the cache of the first step for ever.
一直传第一步得到的 cache。

symptom: From the third token on the past is missing.
症状：从第三个 token 起，中间的历史都丢了。

cards: kv-21
rung: solved
"""

import torch


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    B = src.shape[0]
    out = torch.full((B, max_len), pad, dtype=torch.long, device=src.device)
    if max_len == 0:
        return out
    memory, cache = encoder(src, src_mask), None
    newest = torch.full((B, 1), bos, dtype=torch.long, device=src.device)
    done = torch.zeros(B, dtype=torch.bool, device=src.device)
    for t in range(max_len):
        logits, new = decoder(newest, memory, src_mask, cache)
        cache = new if cache is None else cache
        token = logits[:, -1].argmax(-1).masked_fill(done, pad)
        out[:, t] = token
        done = done | (token == eos)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
