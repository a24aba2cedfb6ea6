"""Fills up with eos instead of pad.
用 eos 而不是 pad 补齐。

symptom: Lengths counted by pad are wrong.
症状：按 pad 数长度就错了。

cards: dec-06
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
        logits, cache = decoder(newest, memory, src_mask, cache)
        token = logits[:, -1].argmax(-1).masked_fill(done, eos)
        out[:, t] = token
        done = done | (token == eos)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
