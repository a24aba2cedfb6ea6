"""A generator yields columns until all rows are done; what is behind an eos is overwritten before it is fed."""
from itertools import islice

import torch


def columns(src, encoder, decoder, bos, eos, pad, src_mask):
    fed, cache = torch.zeros_like(src[:, :1], dtype=torch.int64) + bos, None
    memory, open_rows = encoder(src, src_mask), torch.ones_like(src[:, :1], dtype=torch.bool)
    while open_rows.any():
        logits, cache = decoder(fed, memory, src_mask, cache)
        fed = logits.sort(dim=-1, descending=True, stable=True).indices[:, :, 0] * open_rows + pad * ~open_rows
        open_rows = open_rows & fed.ne(eos)
        yield fed


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    new = list(islice(columns(src, encoder, decoder, bos, eos, pad, src_mask), max_len))
    return torch.hstack(new) if new else torch.zeros(len(src), 0, dtype=torch.int64, device=src.device)
