"""Writes pad where eos was generated.
把生成的 eos 也写成 pad。

symptom: Nobody can see whether a row ended or was cut off.
症状：看不出一行是自己结束的还是被截断的。

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
        token = logits[:, -1].argmax(-1).masked_fill(done, pad)
        done = done | (token == eos)
        out[:, t] = token.masked_fill(done, pad)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
