"""Takes a generated pad for the end of a row.
模型生成了 pad 也当作这一行结束。

symptom: Rows stop early where pad is a word too.
症状：pad 也是普通词时，提前结束。

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
        out[:, t] = token
        done = done | (token == eos) | (token == pad)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
