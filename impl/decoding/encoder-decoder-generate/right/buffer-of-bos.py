"""A buffer with bos in front, of which columns are fed; a for loop with break."""
import torch


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    ids = src.new_full((src.shape[0], max_len + 1), pad, dtype=torch.int64)
    ids[:, 0] = bos
    alive = torch.ones_like(ids[:, 0], dtype=torch.bool)
    length, cache = 0, None
    for t in range(max_len):
        if t == 0:
            memory = encoder(src, src_mask)
        logits, cache = decoder(ids[:, t : t + 1], memory, src_mask, cache)
        best = logits[:, 0].max(-1, keepdim=True).values
        token = (logits[:, 0] == best).int().argmax(-1)
        ids[:, t + 1] = torch.where(alive, token, pad)
        alive = alive & (ids[:, t + 1] != eos)
        length = t + 1
        if not alive.any():
            break
    return ids[:, 1 : length + 1].clone()
